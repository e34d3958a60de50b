#--- basics
printf 'foo\nbar\nbaz\n' > f; grep ba f; echo $?; grep x f; echo $?; grep -v ba f; grep -c ba f; grep -n ba f; grep -i FOO f; grep -cv o f
#--- whole lines and words
printf 'foo\nfoo bar\nfoobar\nbar-foo\n_foo\n' > f; grep -w foo f; echo -; grep -x foo f; echo -; grep -wo foo f; grep -xF 'foo bar' f; grep -w bar f
#--- files
printf 'a\n' > x; printf 'b\na\n' > y; grep a x y; grep -l b x y; grep -L b x y; echo $?; grep -h a x y; grep -H a x; grep -c a x y; grep -q a x; echo $?; grep a nope x; echo $?; grep -s a nope; echo $?
#--- basic and extended
printf 'a+b\naab\na|b\n(x)\n' > f; grep 'a+' f; grep -E 'a+b' f; grep 'a\+b' f; grep 'a\|x' f; grep -E 'a\|b' f; grep '(x)' f; grep -E '\(x\)' f; grep -F 'a|b' f; egrep 'x|\+' f; fgrep '+' f
#--- intervals and classes
printf 'a\naa\naaa\nb1\n' > f; grep 'a\{2\}' f; grep -E '^a{2,}$' f; grep -E '^a{1,2}$' f; grep '[[:digit:]]' f; grep '[^a]' f; grep -E '^[[:alpha:]][0-9]$' f; grep -E 'a{,1}b' f
#--- back-references
printf 'abab\nabba\nxx\n' > f; grep '\(ab\)\1' f; grep -E '(.)\1' f; grep -E '^(.)(.)\2\1$' f
#--- only matching
echo 'foo123bar45' | grep -o '[0-9]*'; echo 'foo123bar45' | grep -oE '[a-z]+|[0-9]+'; echo abc | grep -ob b; printf 'xay\nbab\n' | grep -on a; echo aaa | grep -o a; echo abc | grep -oi B
#--- longest of alternatives
echo foobar | grep -oE 'foo|foobar'; echo foobar | grep -o -e foo -e foobar; echo abcd | grep -oE 'ab|abcd|abc'
#--- context
seq 20 > f; grep -A1 5 f; echo =; grep -B1 12 f; echo =; grep -C1 -n '^9$' f; echo =; grep -1 '^1$' f; grep -A1 -e 3 -e 7 f
#--- context that overlaps
seq 10 > f; grep -C2 -E '3|5' f; grep -n -A1 -B1 -E '2|8' f; grep --no-group-separator -A0 -E '^(2|8)$' f; grep --group-separator=XX -A1 -E '^(2|8)$' f
#--- context of several files
seq 3 > a; seq 3 > b; grep -C1 2 a b; grep -nA1 1 a b
#--- max count
seq 20 > f; grep -m2 1 f; grep -m1 -A2 5 f; grep -m0 1 f; echo $?; grep -cm3 1 f; grep -m1 1 f f
#--- patterns from a file
printf 'a\nb\n' > pats; printf 'xa\nxb\nxc\n' > f; grep -f pats f; grep -e xa -f pats f; grep -f /dev/null f; echo $?; grep -F -f pats f; grep 'xa
xc' f; grep -vf pats f
#--- empty pattern
printf 'a\n\nb\n' > f; grep '' f; grep -c '^$' f; grep -v '' f; echo $?; grep -e '' -c f; grep -w '' f; echo $?; grep -x '' f
#--- recursive
mkdir -p d/e; echo hit > d/a.txt; echo hit > d/e/b.c; echo no > d/c.txt; grep -r hit d | sort; grep -rl hit . | sort; grep -rn hit | sort; grep -rh hit d; grep -rc hit d | sort; grep -r hit d/a.txt; cd d; grep -r hit . | sort
#--- recursive with globs
mkdir -p d/e .git; echo hit > d/a.txt; echo hit > d/e/b.c; echo hit > .git/x; grep -r --include='*.c' hit . ; grep -r --exclude='*.c' --exclude-dir=.git hit . ; grep -r --exclude-dir=e --exclude-dir=.git hit . ; grep -r --include='*.txt' --include='*.c' hit d | sort; grep --include='*.x' hit d/a.txt; echo $?
#--- links in recursion
mkdir d; echo hit > d/f; ln -s f d/l; ln -s d dl; grep -r hit d; grep -R hit d | sort; grep -r hit dl
#--- directories
mkdir d; grep x d; echo $?; grep -d skip x d; echo $?; grep -s x d; echo $?
#--- binary
printf 'a\0b\nfoo\n' > b; grep foo b; echo $?; grep -c foo b; grep -a foo b; grep -I foo b; echo $?; grep -l foo b; grep -q foo b; echo $?; printf 'foo\n' > t; grep foo b t; grep --binary-files=text -o foo b
#--- null data
printf 'a\nb\0c\0' | grep -z c | tr '\0' '\n'; printf 'a\nb\0' | grep -zc b; printf 'x\n' > f; grep -lZ x f | tr '\0' '!'; echo; grep -HZ x f | tr '\0' '!'
#--- standard input
echo a | grep a -; echo a | grep -H a; echo a | grep --label=lab -H a; echo a | grep -c a - ; printf 'a\n' > f; echo a | grep a f -
#--- options anywhere
printf 'a\nB\n' > f; grep b f -i; grep -- -x f; echo $?; echo '-x' | grep -e -x; echo '--foo' | grep -- --foo; grep -in b f; grep -A 1 a f
#--- errors
grep; echo $?; grep '[' /dev/null; echo $?; grep 'a\{1' /dev/null; echo $?; grep -E '(a' /dev/null; echo $?; grep '\(' /dev/null; echo $?; grep -E 'a)' /dev/null; echo $?; grep -A x a /dev/null; echo $?; grep -Y a; echo $?
#--- ignore case
printf 'Foo\nBAR\n\303\211t\303\251\n' > f; grep -i foo f; grep -i '[a-c]ar' f; grep -iF bar f; grep -i 'ét' f; grep -iw BAR f; grep -i --no-ignore-case foo f; echo $?
#--- anchors
printf 'ab\nba\na^b\nb$a\n' > f; grep '^a' f; grep 'a$' f; grep 'a^b' f; grep 'b$a' f; grep '\^' f; grep -E 'b\$' f; grep -E '^(a|b)' f; grep 'x*' f | wc -l
#--- words and borders
printf 'the cat\ncatalog\nconcat\n' > f; grep '\bcat\b' f; grep '\<cat' f; grep 'cat\>' f; grep '\Bcat' f; grep -w 'cat' f; grep -E '\w+\s\w+' f; grep '\W' f
#--- dot and stars
printf 'a.c\nabc\nac\n' > f; grep 'a.c' f; grep 'a\.c' f; grep 'a.*c' f; grep -F 'a.c' f; grep 'ab*c' f; grep -E 'ab?c' f; grep 'ab\?c' f
#--- utf-8
printf 'h\303\251llo\nhello\nh\303\244llo\n' > f; grep 'h.llo' f; grep -o 'h.' f; grep 'h[é]llo' f; grep -c 'h[^e]llo' f; grep -oE '[[:alpha:]]+' f; grep -w 'héllo' f
#--- perl patterns
echo 'foo=123 bar=4' | grep -oP '\d+'; echo 'foo=123 bar=4' | grep -oP 'foo=\K\d+'; echo 'a1b22' | grep -oP '[a-z]\d{2}'; echo 'price: $5' | grep -oP '(?<=\$)\d+'; echo 'key="v"' | grep -oP '"\K[^"]+(?=")'; echo abc | grep -P '^a.c$'; echo 'aXb' | grep -oP '(?i)x'; echo 'aa' | grep -oP 'a+?'
#--- colour
printf 'foo bar foo\n' > f; grep --color=always foo f; grep --color=always -n bar f; grep --color=never foo f; grep --color=always -o foo f; grep --color=always -c foo f f; grep --color=auto foo f
#--- byte offsets and tabs
printf 'ab\ncd\n' > f; grep -b c f; grep -bo d f; grep -nb d f; grep -T d f; grep -nT d f; grep -HnT d f
#--- counts with context of inverted matches
seq 5 > f; grep -v -A1 3 f; grep -vc 3 f; grep -vn -m2 3 f; grep -vl 3 f; grep -vo 3 f; echo $?
#--- quiet ends early
yes | grep -q y; echo $?; yes | grep -m1 y; seq 100000 | grep -l 5
#--- crlf stays
printf 'a\r\nb\r\n' | grep -c 'a$'; printf 'a\r\n' | grep 'a.$' | od -c
#--- brackets
printf 'a]b\na-b\na\\b\n[x]\n' > f; grep '[]]' f; grep '[a-]b' f; grep '[\]' f; grep '[][]x' f; grep '[^]a-z]' f; grep -E '[[:space:]-]' f
