#--- ls
mkdir d; touch b a .h d/x; ls; ls -a; ls -A; ls d; ls -1 a b; ls -d d .; ls -r; ls -F; ls -p
#--- ls of several
mkdir d e; touch f d/1 e/2; ls f d e; ls nothere f; echo $?
#--- ls recursive
mkdir -p a/b/c; touch a/1 a/b/2; ls -R; ls -R a/b
#--- ls long
printf 12345 >f; chmod 640 f; touch -d '2020-03-04 05:06:07' f; ln -s f l; ls -l f; ls -ld --time-style=long-iso f; ls -l --full-time f | cut -c1-60; ls -ln f; ls -lh f; ls -go f
#--- ls sorting
printf 1 >a; printf 333 >b; printf 22 >c; touch -d 2020-01-01 a; touch -d 2022-01-01 b; touch -d 2021-01-01 c; ls -S; ls -t; ls -tr; ls -Sr; ls -U >/dev/null; touch f1 f10 f2; ls -v f*; touch x.b x.a; ls -X x.*
#--- ls options of form
touch a b 'c d'; ls -m; ls -Q; ls -x -1; ls --sort=size; ls --group-directories-first; ls -I 'a*'; ls -i a | wc -w; ls -s a
#--- ls errors
ls --nosuch 2>/dev/null; echo $?; ls -y 2>/dev/null; echo $?; ls nothere 2>&1; echo $?
#--- ls links
mkdir d; touch d/f; ln -s d l; ln -s none b; ls l; ls -d l; ls -l b | sed 's/.* b/b/'; ls -L l; ls -F
#--- ls total
printf x >a; mkdir d; ls -l | head -1; ls -s | head -1
#--- stat
printf hello >f; chmod 604 f; touch -d '2021-02-03 04:05:06' f; stat -c '%n %s %a %A %F %U %h %Y %y' f; mkdir d; stat -c '%F %a' d; ln -s f l; stat -c '%N %F' l; stat -L -c %s l; stat --printf '%n\t%s\n' f; stat -c '%5s|%-5s|' f; stat nothere; echo $?
#--- file
printf 'text\n' >t; printf '\x89PNG\r\n\x1a\n' >p; : >e; mkdir d; ln -s t l; printf '{"a":1}' >j.json; printf '#!/bin/sh\n' >s; printf 'caf\xc3\xa9\n' >u; printf '\0\1\2' >b
#--- du
mkdir -p a/b; printf '%05000d' 0 >a/f; printf x >a/b/g; du -b a/f; du -s --apparent-size -B1 a/b/g; du -a a | sort -k2 | cut -f2; du -sh a/f; du nothere; echo $?
#--- find
mkdir -p a/b c; touch a/x.txt a/b/y.txt c/z.md .h; find . | sort; find a -name '*.txt' | sort; find . -type d | sort; find . -type f -not -name '*.txt' | sort; find a c -maxdepth 1 | sort; find . -mindepth 2 | sort; find nothere; echo $?
#--- find combinations
mkdir -p a/b; touch a/1 a/2 a/b/1; find a -name 1 -o -name 2 | sort; find a \( -name 1 -o -name b \) -type f | sort; find a -name b -prune -o -type f -print | sort; find a ! -name 1 | sort; find a -iname 'B' ; find a -path '*b/*'; find a -type f,d | wc -l
#--- find by size and time
printf 1234567890 >ten; : >zero; head -c 3000 /dev/null; printf '%03000d' 0 >big; touch -d '3 days ago' old; find . -size +1k -type f; find . -empty -type f | sort; find . -size 10c; find . -mtime +1; find . -mtime -1 -type f | sort; find . -newer old -type f | sort; find . -mmin -5 -type f | sort
#--- find exec
touch a b; find . -type f -exec echo got {} \; | sort; find . -type f -exec echo all {} + | wc -l; find . -type f -name a -exec rm {} \; ; ls; find . -type f -execdir echo {} \;
#--- find delete and quit
mkdir -p d/e; touch d/1 d/e/2; find d -name 2 -delete; find d | sort; find d -delete; ls; touch x y; find . -type f -print -quit | wc -l
#--- find printf
mkdir d; printf abc >d/f; chmod 600 d/f; find d -printf '%p %f %h %s %m %y %d %P\n' | grep -v '^d ' ; find d -name f -printf '[%5s] %M\n'; find d -print0 | tr '\0' '\n'
#--- find permissions and links
touch a b; chmod 755 a; chmod 600 b; find . -perm 755; find . -perm -100 -type f; find . -perm /077 -type f; ln -s a l; find . -type l; find -L . -type f | sort; find . -lname a; ln a h; find . -links 2 | sort; find . -samefile a | sort
#--- find regex
touch ab.c abc.d; find . -regex '.*/ab.*\.c'; find . -regextype posix-extended -regex '.*(c|d)$' | sort
#--- find errors
find . -nosuch; echo $?; find . -name; echo $?; find . -type q 2>/dev/null; echo $?; find . '(' -name a; echo $?
#--- xargs
printf 'a b\nc\n' | xargs; printf 'a b\nc\n' | xargs -n1; printf 'a b\nc\n' | xargs -I{} echo '<{}>'; printf 'a\0b c\0' | xargs -0 -n1 echo; printf '1 2 3 4' | xargs -n2 echo x; : | xargs echo empty; : | xargs -r echo no; echo $?
#--- xargs quotes and lines
printf '"a b" c\\ d '"'e f'"'\n' | xargs -n1; printf 'a b\nc d\n' | xargs -L1 echo l; printf 'a,b,c' | xargs -d, -n1; printf 'x\n' | xargs -t echo 2>&1
#--- xargs status
echo a | xargs false; echo $?; echo a | xargs sh -c 'exit 255' 2>/dev/null; echo $?; echo a | xargs nosuchcmd 2>/dev/null; echo $?; seq 3 | xargs -I% sh -c 'test % = 2'; echo $?
#--- xargs with many
seq 1 1000 | xargs echo | wc -w; seq 1 10 | xargs -n3 | wc -l; ls -d / | xargs -n1 ls -d
#--- cp
echo a >f; cp f g; cat g; mkdir d; cp f g d; ls d; cp f d/h; cat d/h; cp nothere x; echo $?; cp d e; echo $?; cp f; echo $?; cp f g nodir; echo $?
#--- cp recursive
mkdir -p d/e; echo 1 >d/f; echo 2 >d/e/g; ln -s f d/l; cp -r d c; find c | sort; mkdir t; cp -r d t; find t | sort; cp -a d a; readlink a/l; cp -rL d L; cat L/l
#--- cp options
echo a >f; chmod 751 f; touch -d 2020-01-01 f; cp -p f g; stat -c '%a %Y' g; echo new >h; cp -n f h; cat h; cp -v f k; echo x >o; touch -d 2030-01-01 o; cp -u f o; cat o; cp -t . f 2>/dev/null; echo $?; mkdir d; cp -t d f; ls d; cp -T f z; ls z; cp --parents d/f k2 2>/dev/null; mkdir p; cp --parents d/f p; find p | sort; cp -b f g; ls g*; cp -l f hard; cp -s f soft 2>/dev/null; readlink soft
#--- cp onto itself and into itself
echo a >f; cp f f; echo $?; mkdir d; cp -r d d/e; echo $?; ln -s f l; cp f l; echo $?; cp l m; cat m; cp -P l n; readlink n
#--- mv
echo a >f; mv f g; ls; mkdir d; mv g d; ls d; mv d/g d/h; ls d; mv d e; ls; echo x >x; echo y >y; mv x y; cat y; mv nothere z; echo $?; mv y e; ls e
#--- mv options
echo a >a; echo b >b; mv -n a b; cat b; mv -v a c; mv -f b c; cat c; mkdir d; mv -t d c; ls d; mkdir -p e/d; touch e/d/x; mv d e; echo $?; mv e e/f; echo $?; touch s; mv s nodir/; echo $?
#--- rm
touch a b; rm a; ls; rm nothere; echo $?; rm -f nothere; echo $?; mkdir d; rm d; echo $?; rm -r d; ls; mkdir -p e/f; touch e/f/g; rm -rf e b; ls; rm -v x 2>/dev/null; touch y; rm -v y; mkdir z; rm -d z; rm; echo $?; rm -rf .; echo $?
#--- rmdir
mkdir -p a/b/c d; rmdir d; rmdir a; echo $?; rmdir -p a/b/c; ls; touch f; rmdir f; echo $?; rmdir nothere; echo $?; mkdir -p x/y; rmdir --ignore-fail-on-non-empty x; echo $?
#--- mkdir
mkdir a; mkdir a; echo $?; mkdir -p a/b/c; mkdir x/y; echo $?; mkdir -m 700 m; stat -c %a m; mkdir -v v; mkdir -pv p/q; touch f; mkdir -p f; echo $?; mkdir; echo $?; mkdir -p 'sp ace/é'; ls 'sp ace'
#--- touch
touch a; [ -e a ] && wc -c <a; touch -c b; ls; touch -d '2020-01-02 03:04:05' a; stat -c %Y a; touch -t 202103040506.07 a; stat -c %y a; touch -r a c; stat -c %Y c; touch -d @0 a; stat -c %Y a; touch nodir/x; echo $?; touch -d nonsense a; echo $?; touch -d '2020-01-01T00:00:00Z' a; stat -c %Y a
#--- ln
echo a >f; ln f h; echo b >>f; cat h; ln -s f s; cat s; ln -s f s; echo $?; ln -sf h s; readlink s; mkdir d; ln -s ../f d; cat d/f; ln -sfn d q; ln -sfn f q; readlink q; ln nothere x; echo $?; ln d y; echo $?; mkdir -p a/b; ln -sr f a/b/r; readlink a/b/r; ln -v f v | cat
#--- readlink and realpath
mkdir -p a/b; touch a/b/f; ln -s a/b l; ln -s l/f m; readlink l; readlink m; readlink -f m | sed "s,$PWD,P,"; readlink a; echo $?; realpath m | sed "s,$PWD,P,"; realpath --relative-to=a l/f; realpath -s l | sed "s,$PWD,P,"; realpath nothere | sed "s,$PWD,P,"; realpath -e nothere; echo $?; readlink -e nothere; echo $?; readlink -m x/y/z | sed "s,$PWD,P,"; cd a; realpath ../l/../f | sed "s,$OLDPWD,P,"
#--- basename and dirname
basename /a/b.c; basename /a/b.c .c; basename a/; basename /; basename -a x/1 y/2; basename -s .t a.t b.t; basename ''; basename; echo $?; dirname /a/b; dirname a; dirname /a; dirname a/b/; dirname /; dirname a//b x/y/z; basename .c .c
#--- mktemp
f=$(mktemp); [ -f $f ] && stat -c '%a %s' $f; rm $f; d=$(mktemp -d); [ -d $d ] && stat -c %a $d; rmdir $d; mktemp xXXXXX | wc -c; mktemp -u aXXX | wc -c; mktemp bXX; echo $?; mktemp -p . cXXXX.txt | sed 's/c....\./c./'; ls | wc -l; rm -f x* c*
#--- chmod
touch f; for m in 755 644 u+x g-r,o=w a+x -x +X u=rwx,go= 0600 ug+w,o-r; do chmod $m f; stat -c "$m %a" f; done; chmod 9 f; echo $?; chmod nothere; echo $?; chmod 644 nothere; echo $?; mkdir -p d/e; touch d/e/g; chmod -R 700 d; stat -c %a d d/e d/e/g; chmod -v 600 f; chmod --reference=d/e f; stat -c %a f; chmod g=u f; stat -c %a f; chmod -R a+X d; stat -c %a d/e/g
#--- tee
echo a | tee f g; cat f g; echo b | tee -a f >/dev/null; cat f; echo c | tee; echo d | tee nodir/x; echo $?
#--- truncate
printf 12345 >f; truncate -s 3 f; cat f; echo; truncate -s 5 f; od -c f | head -1; truncate -s +2 f; wc -c <f; truncate -s -4 f; wc -c <f; truncate -s 1K n; wc -c <n; truncate -c -s 1 m; ls m; echo $?; truncate -s '<2' f; wc -c <f; truncate -r n f; wc -c <f
#--- seq
seq 3; seq 2 4; seq 1 2 7; seq 5 -2 1; seq -w 8 10; seq -s, 3; seq 1 0.5 2; seq -f '%03g' 2; seq 3 1; seq 0.1 0.1 0.3; seq -5 -3; seq a; echo $?; seq; echo $?; seq 1 0 2; echo $?; seq -w 1 100 | tail -1; seq -s ' ' 1 5
#--- yes
yes | head -2; yes a b | head -1
#--- env
env A=1 B=2 sh -c 'echo $A$B'; env -i sh -c 'echo [$HOME]'; env -u HOME sh -c 'echo [$HOME]'; X=1 env | grep ^X=; env -i A=1 env; env nosuchcmd; echo $?; env false; echo $?; env -C / pwd; printenv HOME >/dev/null; echo $?; printenv NOPE; echo $?; A=1 printenv A
#--- sleep and timeout
sleep 0; sleep 0.01; sleep x; echo $?; sleep; echo $?; timeout 5 echo fast; timeout 0.1 sleep 5; echo $?; timeout -s KILL 0.1 sleep 5; echo $?; timeout 1 false; echo $?; timeout 1 nosuchcmd; echo $?; timeout x true; echo $?; timeout --preserve-status 0.1 sleep 5; echo $?
#--- which
which ls sh >/dev/null; echo $?; which nosuch; echo $?; mkdir bin; printf '#!/bin/sh\necho mine\n' >bin/tool; chmod +x bin/tool; PATH=$PWD/bin:$PATH; which tool | sed "s,$PWD,P,"; tool
#--- who and where
whoami; id -u; id -un; id -g; uname; uname -s; id -gn; logname 2>/dev/null || echo root
#--- true and false by path
/bin/true; echo $?; /usr/bin/false; echo $?; true --help >/dev/null; echo $?
#--- printf as a command
env printf '%s\n' a b; /usr/bin/printf '%d\n' 5; /usr/bin/test 1 = 1; echo $?; /usr/bin/[ a = b ]; echo $?; /bin/echo -n x; /bin/echo
#--- dd
printf 0123456789 >f; dd if=f bs=2 count=2 2>/dev/null; echo; dd if=f of=g bs=1 skip=3 count=4 2>/dev/null; cat g; echo; printf new | dd of=f conv=notrunc 2>/dev/null; cat f; echo; printf xy | dd of=f bs=1 seek=5 conv=notrunc 2>/dev/null; cat f; echo; echo abc | dd conv=ucase 2>/dev/null; dd if=nothere 2>/dev/null; echo $?; printf 12345 | dd bs=2 2>&1 >/dev/null | head -2
#--- names with strange characters
touch 'a b' "q'q" 'd"d' '-dash' $'new\nline' 'é'; ls -- *; rm -- -dash; ls | wc -l; for f in *; do echo "[$f]"; done; cp 'a b' 'c d'; ls c*
#--- deep paths
mkdir -p a/b/c/d/e; touch a/b/c/d/e/f; ls a/b/c/d/e/../../../../; cat a/./b/.././b/c/d/e/f; cd a/b/c; ls ../../..; ls -d ../../../a
#--- a file where a directory is expected
touch f; ls f/; echo $?; cat f/x; echo $?; cd f; echo $?; mkdir f/d; echo $?; echo x >f/y; echo $?; touch f/; echo $?; cp f f/; echo $?
#--- a directory where a file is expected
mkdir d; cat d; echo $?; echo x >d; echo $?; wc d; echo $?; head d; echo $?; cp d x; echo $?; . ./d; echo $?; ./d; echo $?; bash d; echo $?
#--- dangling and circular links
ln -s none b; cat b; echo $?; [ -e b ]; echo $?; [ -L b ] && echo link; echo made >b; cat none; ln -s c c; cat c; echo $?; ls -d c; rm c; ls
#--- hard links
echo a >f; ln f g; stat -c %h f; rm f; cat g; stat -c %h g; ln g h; mv h i; echo b >>i; cat g
#--- truncating an open file
exec 3>f; echo one >&3; : >f; echo two >&3; exec 3>&-; tr '\0' '.' <f
#--- appending from two descriptors
exec 3>>f 4>>f; echo a >&3; echo b >&4; echo c >&3; exec 3>&- 4>&-; cat f
#--- deleting an open file
echo data >f; exec 3<f; rm f; cat <&3; exec 3<&-; ls
#--- copying over an open file
echo old >f; exec 3<f; echo new >g; mv g f; cat <&3 f; exec 3<&-
#--- modes of new files
touch f; mkdir d; : >g; cp f h; stat -c '%a %n' d f g h; install -m 700 f i; echo x | tee t >/dev/null; stat -c %a t
#--- nohup and nice
nohup echo a 2>/dev/null; nice echo b; nice -n 5 echo c; time true 2>/dev/null
#--- pwd as a command
mkdir d; cd d; /bin/pwd | sed 's,.*/,,'; env pwd | sed 's,.*/,,'
#--- unlink
touch a; unlink a; ls; unlink a; echo $?; mkdir d; unlink d; echo $?; unlink; echo $?
#--- invalid options
cp -Q; echo $?; mv --nope; echo $?; rm -Q; echo $?; mkdir -Q; echo $?; touch --nope x; echo $?; ln -Q; echo $?; basename --nope; echo $?; seq --nope; echo $?; find -Q; echo $?; xargs --nope; echo $?; env --nope; echo $?; tee -Q; echo $?
#--- abbreviated long options
mkdir --par a/b; ls --al a | head -1; touch --no-cr x; ls x; echo $?; rm --rec a; ls; cp --re x y; echo $?
#--- double dash
touch -- -x; ls -- -x; rm -- -x; mkdir -- -d; rmdir -- -d; echo -- a
