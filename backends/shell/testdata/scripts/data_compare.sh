#--- diff normal
printf '1\n2\n3\n4\n5\n' > a; printf '1\nx\n3\n5\n6\n' > b; diff a b; echo $?; diff a a; echo $?; diff b a
#--- diff adds and deletes
printf 'a\nb\n' > a; printf 'a\nnew\nb\nlast\n' > b; diff a b; diff b a; : > e; diff e a; diff a e; echo $?
#--- diff unified
seq 1 30 > a; seq 1 30 | sed -e 5d -e 's/^20$/twenty/' -e '25a more' > b; diff -u --label a --label b a b; diff -U1 --label a --label b a b; diff -U0 --label a --label b a b; echo $?
#--- diff unified merges hunks
seq 1 30 > a; seq 1 30 | sed -e 's/^5$/x/' -e 's/^11$/y/' -e 's/^19$/z/' > b; diff -u -L a -L b a b
#--- diff unified at the edges
printf 'a\nb\nc\n' > a; printf 'z\na\nb\nc\n' > b; diff -u -L a -L b a b; diff -u -L a -L b b a; printf 'a\nb\nc\nd\n' > b; diff -u -L a -L b a b
#--- diff unified of empty files
: > a; printf 'x\ny\n' > b; diff -u -L a -L b a b; diff -u -L b -L a b a; diff -u a a; echo $?
#--- diff unified header times
echo a > a; echo b > b; touch -d '2024-01-02 03:04:05.123456 UTC' a; touch -d '2023-01-02 UTC' b; diff -u a b; diff -c a b
#--- diff no newline
printf 'a\nb' > a; printf 'a\nb\n' > b; diff a b; diff -u -L a -L b a b; diff -u -L a -L b b a; diff -c -L a -L b a b; printf 'a\nc' > b; diff a b; diff -u -L a -L b a b; diff -b a b
#--- diff context
seq 1 30 > a; seq 1 30 | sed -e 5d -e 's/^20$/twenty/' -e '25a more' > b; diff -c -L a -L b a b; diff -C1 -L a -L b a b; diff -C0 -L a -L b a b
#--- diff context of deletions and additions alone
seq 1 9 > a; sed 5d a > b; diff -c -L a -L b a b; diff -c -L a -L b b a
#--- diff ed and rcs
seq 1 9 > a; sed -e 2,3d -e 's/^5$/five/' -e '$a ten' a > b; diff -e a b; diff -n a b; diff --ed b a; diff --rcs b a
#--- diff brief and same
echo a > a; echo b > b; cp a c; diff -q a b; echo $?; diff -q a c; echo $?; diff -s a c; diff --brief --report-identical-files a c; diff -s a b
#--- diff ignores blanks
printf 'a  b\nc\n' > a; printf 'a b \nc\n' > b; printf 'ab\nc\n' > c; diff -b a b; echo $?; diff -w a c; echo $?; diff -b a c; echo $?; diff a b; printf 'a  b  \nc\n' > d; diff -Z a d; echo $?
#--- diff ignores case
printf 'Hello\nX\n' > a; printf 'hello\nY\n' > b; diff -i a b; echo $?; diff -u -i -L a -L b a b
#--- diff ignores blank lines
printf 'a\n\nb\nc\n' > a; printf 'a\nb\n\n\nc\n' > b; diff -B a b; echo $?; printf 'a\nb\n\nd\n' > c; diff -B a c; echo $?; diff -B -u -L a -L c a c
#--- diff ignores matching lines
printf '# v1\na\nb\n' > a; printf '# v2\na\nb\n' > b; diff -I '^#' a b; echo $?; printf '# v2\na\nc\n' > c; diff -I '^#' a c; diff -u -L a -L c -I '^#' a c
#--- diff tabs
printf 'a\tb\n' > a; printf 'a       b\n' > b; diff -E a b; echo $?; diff -t a b; diff -T a b; diff -u -t -L a -L b a b
#--- diff carriage returns
printf 'a\r\nb\r\n' > a; printf 'a\nb\n' > b; diff --strip-trailing-cr a b; echo $?; diff -q a b
#--- diff side by side
printf 'one\ntwo\nthree\nfour\n' > a; printf 'one\nTWO\nfour\nfive\n' > b; diff -y a b; diff -y -W 40 a b; diff -y --suppress-common-lines -W 40 a b; diff -y --left-column -W 40 a b; diff -y a a; echo $?
#--- diff side by side with long lines
printf 'a long line that does not fit into the column at all, no way\nshort\n' > a; printf 'another long line that does not fit\nshort\ttab\n' > b; diff -y -W 50 a b; diff -y -t -W 50 a b
#--- diff show function
printf 'int f()\n{\n1\n2\n3\n4\n5\n6\n7\n8\n}\nint g()\n{\n a\n b\n c\n d\n e\n}\n' > a; sed 's/ d/ D/' a > b; diff -u -p -L a -L b a b; diff -F '^int' -u -L a -L b a b; diff -p -L a -L b a b
#--- diff directories
mkdir -p x/sub y/sub; echo 1 > x/a; echo 2 > y/a; echo s > x/same; echo s > y/same; echo o > x/only; echo n > y/new; echo p > x/sub/f; echo q > y/sub/f; mkdir y/extra; diff x y; echo $?; diff -r x y; diff -rq x y; diff -rs x y; echo $?
#--- diff directories as a patch
mkdir -p x/sub y/sub y/d; echo 1 > x/a; echo 2 > y/a; echo n > y/new; echo p > x/gone; echo q > y/d/f; for f in x/a y/a y/new x/gone y/d/f; do touch -d '2024-01-01 UTC' $f; done; diff -ruN x y; diff -rN x y; diff -rq -N x y
#--- diff excludes
mkdir x y; echo 1 > x/a.o; echo 2 > y/a.o; echo 1 > x/b; echo 2 > y/b; diff -r -x '*.o' x y; echo 'b' > ex; diff -r -X ex x y
#--- diff file and directory
mkdir d; echo a > d/f; echo b > f; diff f d; diff d f; echo $?; mkdir x y; mkdir x/k; echo k > y/k; diff -r x y; echo $?
#--- diff binary
printf 'a\0b\n' > a; printf 'a\0c\n' > b; diff a b; echo $?; diff -q a b; echo $?; diff -a a b | od -c; cp a c; diff a c; echo $?
#--- diff standard input
echo a > a; echo b | diff a -; echo b | diff - a; echo a | diff - a; echo $?; echo x | diff -u --label in --label a - a
#--- diff missing file
echo a > a; diff a nope; echo $?; diff nope nope2; echo $?; diff a; echo $?; diff -N a nope; echo $?; diff --nope a a; echo $?; diff -u -c a a; echo $?
#--- diff from and to file
echo a > a; echo b > b; echo c > c; diff --from-file=a b c; diff --to-file=a b c; echo $?
#--- diff finds the shortest way
printf 'a\nb\nc\na\nb\nb\na\n' > a; printf 'c\nb\na\nb\na\nc\n' > b; diff a b; diff -u -L a -L b a b
#--- diff shifts hunks
printf 'f() {\n}\n\ng() {\n}\n' > a; printf 'f() {\n}\n\nh() {\n}\n\ng() {\n}\n' > b; diff -u -L a -L b a b; diff a b; diff -u -L a -L b b a
#--- diff repeated lines
for i in 1 2 3 4 5 6 7 8; do echo x; echo; echo "l$i"; done > a; for i in 1 2 8 4 5 9 7 3; do echo x; echo; echo "l$i"; done > b; diff a b; diff -u -L a -L b a b; diff -d a b
#--- diff many common lines
for i in $(seq 1 80); do if [ $((i%7)) = 0 ]; then echo '}'; elif [ $((i%5)) = 0 ]; then echo; else echo "line $i"; fi; done > a; for i in $(seq 1 90); do if [ $((i%7)) = 0 ]; then echo '}'; elif [ $((i%4)) = 0 ]; then echo; elif [ $((i%11)) = 0 ]; then echo "new $i"; else echo "line $i"; fi; done > b; diff a b; diff -u -L a -L b a b
#--- diff moved block
seq 1 50 > a; { seq 1 9; seq 30 40; seq 10 29; seq 41 50; } > b; diff a b; diff -u -L a -L b a b
#--- diff names with blanks
mkdir 'a b' c; echo 1 > 'a b/x y'; echo 2 > 'c/x y'; diff -r 'a b' c; echo z > 'c/o n'; diff -r 'a b' c
#--- cmp
printf 'abc\ndef\n' > a; printf 'abc\ndxf\n' > b; cmp a b; echo $?; cmp a a; echo $?; cmp -s a b; echo $?; cmp -l a b; cmp -b a b; cmp -lb a b
#--- cmp of prefixes
printf 'abc' > a; printf 'abcdef' > b; cmp a b; echo $?; : > e; cmp a e; echo $?; cmp -n 3 a b; echo $?; cmp -s a b; echo $?
#--- cmp skips
printf 'xxabc' > a; printf 'yabc' > b; cmp -i 2:1 a b; echo $?; cmp a b 2 1; echo $?; cmp -i 1 a b; echo $?; cmp --bytes=2 -i 0 a b; echo $?
#--- cmp standard input and missing files
echo a > a; echo a | cmp a; echo $?; echo b | cmp - a; echo $?; cmp a nope; echo $?; cmp -s a nope; echo $?
#--- patch unified
seq 1 10 > a; sed 's/5/five/' a > b; diff -u a b > p; patch a < p; echo $?; cat a; patch -R a < p; cat a; rm -f p ../p
#--- patch with names
mkdir -p src/lib; seq 1 10 > src/lib/f.c; printf -- '--- a/src/lib/f.c\n+++ b/src/lib/f.c\n@@ -3,3 +3,3 @@\n 3\n-4\n+four\n 5\n' > p; patch -p1 < p; cat src/lib/f.c; patch -p1 -R -i p; patch -p0 --dry-run < p; echo $?; cd src/lib; patch -i ../../p; cat f.c
#--- patch new and removed files
printf -- '--- /dev/null\n+++ b/new/dir/f\n@@ -0,0 +1,2 @@\n+one\n+two\n--- a/old\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n' > p; echo gone > old; patch -p1 < p; echo $?; ls; cat new/dir/f; patch -p1 -R < p; ls; cat old
#--- patch context diff
seq 1 20 > a; sed -e 's/5/five/' -e 12d -e '18a new' a > b; diff -c a b > p; patch a p; cmp a b; echo $?; patch -R a p; echo $?; tail -3 a; rm -f p ../p
#--- patch normal diff
seq 1 20 > a; sed -e 's/5/five/' -e 12d -e '18a new' a > b; diff a b > p; patch a p; cmp a b; echo $?
#--- patch offset
seq 1 20 > a; sed 's/^10$/ten/' a > b; diff -u a b > p; { echo x; echo y; cat a; } > c; patch c < p; echo $?; sed -n 12p c; ls; rm -f p ../p
#--- patch fuzz
seq 1 20 > a; sed 's/^10$/ten/' a > b; diff -u a b > p; sed 's/^7$/seven/' a > c; patch c < p; echo $?; ls; sed -n 10p c; sed 's/^7$/seven/' a > d; patch -F0 d < p; echo $?; tail -n +3 d.rej; rm p d.rej
#--- patch rejects
seq 1 20 > a; sed -e 's/^3$/three/' -e 's/^15$/fifteen/' a > b; diff -u --label a --label b a b > p; sed 's/^1[3-7]$/no/' a > c; patch c < p; echo $?; ls; cat c.rej; cat c | head -4
#--- patch rejects of a context diff
seq 1 20 > a; sed -e 's/^15$/fifteen/' a > b; diff -c --label a --label b a b > p; sed 's/^1[3-7]$/no/' a > c; patch c < p; echo $?; ls; cat c.rej
#--- patch already applied
seq 1 10 > a; sed 's/5/five/' a > b; diff -u --label a --label b a b > p; patch -N b < p; echo $?; ls; cat b.rej; patch -t b < p; echo $?; sed -n 5p b
#--- patch already applied, by force
seq 1 10 > a; sed 's/5/five/' a > b; diff -u --label a --label b a b > p; patch -f b < p; echo $?; ls; patch --dry-run -N b < p; echo $?
#--- patch backup and output
seq 1 5 > a; sed 's/3/x/' a > b; diff -u --label a --label b a b > p; patch -b a < p; ls; cat a.orig; patch -o out b -R < p; cat out; patch -b -z .bak a -R < p; ls
#--- patch silent and elsewhere
mkdir d; seq 1 5 > d/a; sed 's/3/x/' d/a > b; diff -u --label a --label b d/a b > p; patch -s -d d < p; echo $?; cat d/a; patch -d d -R -i ../p; cat d/a
#--- patch several files
mkdir -p a b; seq 1 5 > a/x; seq 6 9 > a/y; cp a/x a/y b; sed -i 's/3/three/' b/x; sed -i 's/7/seven/' b/y; echo n > b/z; diff -ruN a b > p; cd a; patch -p1 < ../p; cat x y z; ls; rm -f p ../p
#--- patch without a newline at the end
printf 'a\nb' > a; printf 'a\nc' > b; diff -u a b > p; patch a p; od -c a; printf 'a\nb' > x; printf 'a\nb\n' > y; diff -u x y | patch x; od -c x; rm -f p ../p
#--- patch garbage
echo hello | patch; echo $?; echo a > a;  printf -- '--- a\n+++ a\n@@ -1,2 +1,2 @@\n a\nxxx\n' | patch; echo $?
#--- patch of a file that is not there
printf -- '--- x/nope\n+++ y/nope\n@@ -1 +1 @@\n-a\n+b\n' > p; patch -p1 < p; echo $?; patch < p; echo $?; patch -f -p1 < p; echo $?
#--- patch git style
printf 'a\nb\n' > old; printf 'diff --git a/old b/new\nsimilarity index 50%%\nrename from old\nrename to new\n--- a/old\n+++ b/new\n@@ -1,2 +1,2 @@\n a\n-b\n+c\ndiff --git a/run b/run\nnew file mode 100755\n--- /dev/null\n+++ b/run\n@@ -0,0 +1 @@\n+echo hi\n' > p; patch -p1 < p; ls; cat new; ./run 2>/dev/null || sh run
#--- patch dangerous names
mkdir w; cd w; printf -- '--- ../../x\n+++ ../../x\n@@ -0,0 +1 @@\n+bad\n' | patch -p0; echo $?; ls ..
#--- patch empty result
echo a > f; printf -- '--- f\n+++ f\n@@ -1 +0,0 @@\n-a\n' > p; patch < p; ls; wc -c < f; echo a > f; patch -E < p; ls
#--- diff side by side in narrow columns
printf '1\n2\n3\n4\n5\n' > a; printf '1\nx\n3\n5\n6\n' > b; for w in 10 20 21 30 40 41 79 80 130; do diff -y -W $w a b; done
#--- patch inserts at the start
seq 1 5 > a; (echo x; seq 1 5) > b; diff -U0 --label a --label b a b > p; patch a p; cat a; diff -n a b
#--- patch creates a file that is there
echo 1 > a; printf -- '--- /dev/null\n+++ a\n@@ -0,0 +1 @@\n+q\n' > p; patch < p; echo $?; patch -N < p; echo $?; cat a; ls
#--- diff of process substitutions and old numbers
seq 1 5 > a; diff -u3 a a; echo $?; diff --unified=1 -L a -L b a <(seq 1 4); diff --context=1 -L a -L b a <(seq 1 4); seq 2 5 | diff -u1 --label=x --label y a -; diff <(seq 3) <(seq 2 4)
