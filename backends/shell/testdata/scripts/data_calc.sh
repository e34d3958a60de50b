#--- date formats
date -d '2024-03-05 07:08:09.012345' '+%a %A %b %B %c %C %d %D %e %F %g %G %h %H %I %j %k %l %m %M %N %p %P %q %r %R %s %S %T %u %U %V %w %W %x %X %y %Y %z %Z %%|%n|%t|'
#--- date flags
date -d '2024-03-05 07:08:09' '+%-d %-m %-H %_d %_H %05d %10Y %_10Y %+5Y %^a %^A %^b %#Z %#p %#a %3N %6N %-N %012N %10a %-10a %010a %^10B %10z %-j %_j %:z %::z %:::z %E %Q %Ey %Od %-e %-l %_I %10s %20c %10Z'
#--- date iso and rfc
for o in -R -I -Id -Ihours -Iminutes -Iseconds -Ins --rfc-3339=date --rfc-3339=seconds --rfc-3339=ns --iso-8601 --iso-8601=seconds --rfc-email -u; do date -d '2024-03-05 07:08:09.5' $o; done
#--- date relative
for d in '2 days ago' '+ 1 month' '1 week' '3 hours' 'next day' 'last year' 'tomorrow' 'yesterday' '+90 minutes' '-1 month' '1 year 2 months ago' 'fortnight'; do date -d "2024-01-31 $d" '+%F %T'; done
#--- date weekdays
for d in monday 'next friday' 'last friday' 'this sunday' 'third monday' 'friday next week' 'monday 10am'; do x=$(date -d "$d" '+%F %T'); a=$(date -d "$(date +%F) $d" '+%a' 2>/dev/null); date -d "$d" '+%a %T'; done
#--- date forms
for d in 2024-01-31 20240131 '2024-01-31T10:11:12Z' '2024-01-31T10:11:12.5+0230' '2024-01-31 10:11' 'Jan 31 2024' '31 Jan 2024' '31-Jan-2024' 'Jan 31, 2024 3pm' 1/31/2024 2024/1/31 1/31/24 @86400 @1.5 @-1 'Wed, 31 Jan 2024 10:00:00 +0000' 'Wed Jan 31 10:00:00 UTC 2024' '2024-01-31 10:00 EST' '2024-01-31 00:00 UTC+3' '10 sept 2024' 'TZ="America/New_York" 2024-07-01 10:00' '2024-01-31 (comment) 10:00' '2024-01-01 12:00 +2 hours' '2024-01-01 10:00 PM'; do date -d "$d" '+%F %T.%N'; done
#--- date refuses
for d in foo 2024-02-30 2024-13-01 24:00 noon 2024-W05 1.5 '2 fridays' '@1 +1 day' 2024-05; do date -d "$d" 2>/dev/null; echo $?; done; date x; echo $?; date -I -R; echo $?; date -d @0 x; echo $?; date --foo; echo $?
#--- date zones
for z in UTC America/New_York Europe/Berlin Asia/Kolkata EST5 EST5EDT XYZ-3:30 CET-1CEST,M3.5.0,M10.5.0/3 '<+03>-3' Nowhere/City; do TZ=$z date -d '2024-07-01 12:00 UTC' '+%F %T %z'; TZ=$z date -d '2024-01-01 12:00' +%s; done; TZ=America/New_York date -d '2024-03-10 01:59:59 + 1 sec'; TZ=Asia/Tokyo date -u -d '2024-01-01'
#--- date of files
touch -d '2020-02-02 10:00 UTC' f; date -r f +%s; date -r nope; echo $?; printf '2024-01-01\nfoo\n@5\n' > l; date -f l +%F; echo $?; echo '1 Jan 2000' | date -f - +%A
#--- date epoch arithmetic
a=$(date -d 2024-03-01 +%s); b=$(date -d 2024-02-01 +%s); echo $(( (a-b)/86400 )); date -d @$((a+3600)) '+%F %T'; date -d "@$a" -Iseconds; date +; date -d '2024-02-29 +1 year' +%F
#--- expr arithmetic
expr 1 + 2; expr 7 / 2; expr 7 % 3; expr -7 / 2; expr -7 % 3; expr 2 \* 3 + 4; expr 2 + 3 \* 4; expr \( 2 + 3 \) \* 4; expr 5 - 5; echo $?; expr 10 - 3 - 2; expr 99999999999999999999 + 1; expr 1 / 0; echo $?; expr a + 1; echo $?
#--- expr comparison
expr 3 \< 10; expr 3 \> 10; echo $?; expr abc \< abd; expr 10 = 10.0; expr a = a; expr a != b; expr 2 \<= 2; expr 2 \>= 3; expr 01 = 1; expr a == a; expr B \< a
#--- expr logic
expr 1 \| 0; expr 0 \| 5; expr '' \| 0; echo $?; expr 1 \& 2; expr 0 \& 1; echo $?; expr a \& ''; expr 1 \| 1 / 0; expr 0 \& 1 / 0
#--- expr match
expr hello : 'h\(.*\)o'; expr hello : hel; expr hello : xyz; echo $?; expr hello : 'x\(y\)'; echo $?; expr abc : '\(b\)'; echo $?; expr abcabc : '\(abc\)\1'; expr match foobar 'foo'; expr 'a.b' : 'a\.b'; expr path/to/file : '.*/\(.*\)'; expr aaa : 'a*'; expr '' : ''; echo $?; expr v1.2.3 : 'v\([0-9]*\)'
#--- expr strings
expr length hello; expr length ''; expr substr hello 2 3; expr substr hello 0 3; expr substr hello 4 10; expr index hello lo; expr index hello xyz; echo $?; expr + length; expr length + + 3; expr length héllo; expr substr héllo 2 2; expr index héllo o
#--- expr errors
expr; echo $?; expr 1 +; echo $?; expr 1 2; echo $?; expr \( 1; echo $?; expr 1 \); echo $?; expr ''; echo $?; expr 0; echo $?; expr 00; echo $?; expr -0; echo $?; expr -- 5; expr x : '\('; echo $?
#--- bc arithmetic
printf '1+2\n7/2\n7%%3\n-7/2\n-7%%3\n2^10\n2^100\n(1+2)*3\n10-3-2\n2^3^2\n-2^2\n1.5*2.25\n1.10+2\n.5\n-.5\n0.0\n1.500\n' | bc
#--- bc scale
printf 'scale=4\n10/3\n-10/3\n10%%3\n1/8\n2^-2\nsqrt(2)\n1.23456*1.1\nscale=0\n10/3\nscale=2\n100*1.5\n5.5%%2\n2.5^2\n2.5^-2\nscale\n' | bc
#--- bc bases
printf 'obase=16\n255\n4095\n-255\nobase=2\n10\n255\n.5\nobase=10\nibase=16\nFF\nA\n1F\nibase=A\n10\nobase=8;64\nobase=20;399;12345\nobase=16;10.5\n1/3\nobase=100\n123456\n' | bc; echo 'ibase=2; 1011; 1111.1' | bc; echo 'obase=16; ibase=2; 11111111' | bc
#--- bc variables and assignment
printf 'a=5\na\na+=2\na\na*=3;a\na-=1;a/=4;a\na^=2;a\na%%=7;a\nb=c=3;b;c\n(d=4)\nx++\nx\n++x\nx--\n--x\nlast\n.\nlast+1\n' | bc
#--- bc comparison and logic
printf '1<2\n2<=2\n3>4\n3>=4\n1==1\n1!=1\n!0\n!5\n1&&0\n1||0\n1<2&&3<4\na=1<2\na\n' | bc
#--- bc if and loops
printf 'if (1) 5\nif (0) 5 else 6\nif (1) { 7; 8 }\nfor (i=0;i<3;i++) i\ni=0\nwhile (i<3) { i; i+=1 }\nfor (i=0;i<10;i++) { if (i==3) continue; if (i==6) break; i }\nfor (;;) { break }\n' | bc
#--- bc functions
printf 'define f(x) { return (x*x) }\nf(5)\ndefine fact(n) {\n if (n <= 1) return (1)\n return (n * fact(n-1))\n}\nfact(20)\nfact(50)\ndefine g(a,b) { auto t; t = a+b; return t }\ng(1,2)\nt\ndefine void p(x) { print x, "\\n" }\np(3)\ndefine n() { }\nn()\n' | bc
#--- bc arrays
printf 'a[0]=1\na[5]=7\na[5]\na[1]\nfor (i=0;i<4;i++) a[i]=i^2\na[2]+a[3]\na[1]++\na[1]\ndefine s(v[],n) { auto i,t; for (i=0;i<n;i++) t+=v[i]; return t }\ns(a[],4)\na[-1]\na\n' | bc
#--- bc print and strings
printf '"hello\n"\nprint "a\\tb\\n"\nprint 1,2,"x",3/2,"\\n"\nx=5; print "x=", x, "\\n"\n"no newline"\n1\n' | bc
#--- bc length scale sqrt
printf 'length(12345)\nlength(1.2300)\nlength(0)\nlength(.001)\nscale(1.2300)\nscale(5)\nsqrt(16)\nsqrt(2)\nscale=10\nsqrt(2)\nsqrt(.25)\nsqrt(1.44)\nsqrt(-1)\nsqrt(0)\n' | bc
#--- bc long numbers
printf '2^300\n3^500\nscale=200\n1/7\nsqrt(2)\n' | bc; echo '2^300' | BC_LINE_LENGTH=0 bc
#--- bc library
printf 's(1)\nc(1)\na(1)*4\nl(2)\ne(1)\nj(0,1)\nj(1,2.5)\ne(-1)\nl(10)\ns(-2)\nc(0)\na(.5)\na(-3)\ne(10)\ne(0)\nl(1)\ns(100)\nscale\nscale=5\ne(1)\n4*a(1)\n' | bc -l
#--- bc library, more digits
printf 'scale=50\n4*a(1)\ne(1)\nl(2)\ns(1)\nsqrt(2)\nscale=100\n4*a(1)\n' | bc -l
#--- bc errors
printf '1/0\n2\n1+\n3\nfoo(1)\n4\na[1\n5\n5%%0\n6\n' | bc 2>/dev/null; echo $?
#--- bc comments and continuation
printf '/* a\ncomment */ 1\n2 # rest\n3 + \\\n4\n1; 2; 3\n' | bc; printf 'quit\n5\n' | bc; printf '1\nhalt\n2\n' | bc
#--- bc files
echo '1+1' > f; echo 'define d(x) { return 2*x }' > lib; echo 'd(21)' | bc lib; bc f < /dev/null; bc -q f < /dev/null; echo 'x=3' | bc - 2>/dev/null; bc nope < /dev/null; echo $?
#--- bc here strings
bc <<< '3*4'; bc -l <<< 'scale=2; 22/7'; echo "scale=2; $((355))/113" | bc; x=$(echo '2^16' | bc); echo $x; echo 'scale=3; 1.005*100/1' | bc; echo '5 > 3' | bc; echo "(1.5 + 2.5) * 2" | bc
#--- factor
factor 1 2 12 97 1001 1000000007 18446744073709551557 600851475143; echo '100 7' | factor; factor 0; factor x; echo $?; factor 340282366920938463463374607431768211455; factor -- -5; echo $?
#--- numfmt to
numfmt --to=si 1000 1500 999 1000000 1234567 500; numfmt --to=iec 1024 1500 1048576 1023 10240; numfmt --to=iec-i 2048 4096000; numfmt --to=si 999999; numfmt --to=iec 1073741824 99999999999
#--- numfmt from
numfmt --from=si 1K 1.5M 2G; numfmt --from=iec 1K 1.5M; numfmt --from=iec-i 1Ki 2Mi; numfmt --from=auto 1K 1Ki; numfmt 1K; echo $?; numfmt x; echo $?; numfmt --from=iec-i 1K; echo $?
#--- numfmt options
numfmt --to=iec --suffix=B 2048; numfmt --padding=10 5; numfmt --padding=-10 5 | tr ' ' .; numfmt --format='%.2f' --to=si 1234567; numfmt --format='[%10.1f]' 12.345; numfmt --to=si --round=down 1999 1950; numfmt --to=si --round=nearest 1949 1950; numfmt --from-unit=1024 4; numfmt --to-unit=1000 5000; numfmt --grouping 1234567; numfmt -- -1500
#--- numfmt fields
printf 'a 1024 x\nb 4096 y\n' | numfmt --field=2 --to=iec; printf '1024:2048\n' | numfmt -d: --field=2 --to=iec; printf 'name size\nf 2000\n' | numfmt --header --field=2 --to=si; printf '1000 2000 3000\n' | numfmt --field=1,3 --to=si; printf '1000 2000 3000\n' | numfmt --field=2- --to=si; printf 'bad\n5\n' | numfmt --invalid=ignore; echo $?; printf 'bad\n5\n' | numfmt --invalid=fail; echo $?
