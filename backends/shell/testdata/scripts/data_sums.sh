#--- base64
echo hello | base64; printf '' | base64; printf 'a' | base64; printf 'ab' | base64; seq 1 50 | base64; seq 1 50 | base64 -w 20; seq 1 50 | base64 -w0; echo; seq 1 5 | base64 --wrap=8
#--- base64 decode
echo aGVsbG8K | base64 -d; printf 'aGVs\nbG8K\n' | base64 --decode; seq 1 100 | base64 | base64 -d | tail -1; printf 'aGVsbG8=' | base64 -d; echo; printf 'YQ==YQ==' | base64 -d; echo
#--- base64 invalid
printf 'aGVsbG8*' | base64 -d; echo " $?"; printf 'aGVs!bG8K' | base64 -di; echo $?; printf 'aGVsb' | base64 -d; echo " $?"; base64 nope; echo $?; base64 -w x; echo $?
#--- base32
echo hello | base32; echo NBSWY3DPBI====== | base32 -d; seq 1 40 | base32 -w 30; printf 'abc' | base32 | base32 -d; echo
#--- checksums
printf 'hello\n' > a; md5sum a; sha1sum a; sha224sum a; sha256sum a; sha384sum a; sha512sum a; md5sum < a; md5sum -b a; cat a | sha256sum -
#--- checksum of many
echo a > a; echo b > b; md5sum a b nope; echo $?; sha256sum --tag a b; md5sum -z a | od -c | tail -2
#--- checksum check
echo a > a; echo b > b; md5sum a b > s; md5sum -c s; echo $?; echo x > b; md5sum -c s; echo $?; md5sum -c --quiet s; echo $?; md5sum -c --status s; echo $?; rm a; md5sum -c s; echo $?; md5sum -c --ignore-missing s; echo $?
#--- checksum check of tags and garbage
echo a > a; sha256sum --tag a > s; sha256sum -c s; echo garbage >> s; sha256sum -c s; echo $?; sha256sum -c --strict s; echo $?; sha256sum -c --warn s; echo bad > t; sha256sum -c t; echo $?; sha256sum a | sha256sum -c -; echo $?
#--- checksum escapes names
printf x > 'a\b'; printf x > 'a b'; md5sum 'a\b' 'a b'; md5sum 'a\b' 'a b' | md5sum -c
#--- checksum options that do not fit
md5sum --quiet x; echo $?; md5sum -c --tag x; echo $?; echo | md5sum --status; echo $?
#--- cksum
printf 'hello\n' | cksum; printf '' | cksum; echo a > a; cksum a a; cksum -a sha256 a; cksum -a md5 --untagged a; seq 1 1000 | cksum
#--- gzip
seq 1 1000 > a; gzip a; ls; gzip -t a.gz; echo $?; zcat a.gz | tail -1; gunzip a.gz; ls; tail -1 a
#--- gzip keeps
echo hi > a; gzip -k a; ls; rm a; gzip -dk a.gz; ls; cat a; gzip -d a.gz; echo $?; gzip -df a.gz; echo $?; ls; rm -f a.gz
#--- gzip to standard output
echo hi > a; gzip -c a > b.gz; zcat b.gz; gzip -cd b.gz; gunzip -c b.gz; gzip < a | gunzip; cat b.gz | zcat; ls; rm b.gz
#--- gzip levels
seq 1 2000 > a; for l in 1 5 9; do gzip -$l -c a | gzip -d | cmp - a; echo $?; done; gzip --best -c a | zcat | tail -1; gzip --fast < a | zcat | head -1
#--- gzip several members
{ echo a | gzip; echo b | gzip; } | zcat; { echo a | gzip; printf '\0\0\0'; } | zcat; echo $?; { echo a | gzip; printf 'garbage'; } | zcat; echo $?
#--- gzip damage
echo hello | gzip > a.gz; head -c 15 a.gz > b.gz; gzip -t b.gz; echo $?; echo plain > c.gz; gunzip c.gz; echo $?; zcat c.gz; echo $?; zcat -f c.gz; echo $?; : > e.gz; gunzip -c e.gz; echo $?; rm a.gz b.gz
#--- gzip suffixes
echo a > a; gzip -k a; cp a.gz b; gunzip b; echo $?; gzip a.gz; echo $?; gunzip -S .z b; echo $?; gzip nope; echo $?; mkdir d; gzip d; echo $?; gunzip a; echo $?; rm -f *.gz b
#--- gzip recursive
mkdir -p d/e; echo 1 > d/a; echo 2 > d/e/b; gzip -r d; ls d d/e; gunzip -r d; ls d d/e; cat d/e/b
#--- gzip tgz
mkdir d; echo x > d/f; tar czf a.tgz d; gunzip a.tgz; ls; tar tf a.tar; rm a.tar
#--- gzip list
seq 1 1000 | gzip -n > a.gz; gzip -l a.gz | awk 'NR==2{print $2,$4}'; gzip -l a.gz | head -1; rm a.gz
#--- gzip keeps the mode and time
echo hi > a; chmod 640 a; touch -d '2020-01-01 UTC' a; gzip a; ls -l a.gz | cut -c1-10; date -r a.gz +%F; gunzip a.gz; date -r a +%F
#--- tar makes and lists
mkdir -p d/e; echo a > d/a; echo bb > d/e/b; ln -s a d/l; tar cf x.tar d; tar tf x.tar | sort; rm x.tar
#--- tar verbose list
mkdir d; echo a > d/a; chmod 640 d/a; ln -s a d/l; touch -d '2024-01-02 03:04:05 UTC' d/a; tar --owner=root:0 --group=root:0 --mtime='2024-01-02 03:04 UTC' -cf x.tar d/a d/l; tar tvf x.tar; tar --numeric-owner -tvf x.tar; rm x.tar
#--- tar unpacks
mkdir -p d/e; echo a > d/a; echo bb > d/e/b; ln -s a d/l; chmod 755 d/a; tar -czf x.tgz d; rm -r d; tar -xzf x.tgz; ls -R d; cat d/l d/e/b; mkdir o; tar xf x.tgz -C o; cat o/d/a; rm x.tgz
#--- tar old style and verbose
mkdir d; echo a > d/a; tar cvf x.tar d; tar tf x.tar; rm -r d; tar xvf x.tar; tar cvzf y.tgz d/a; tar -tzf y.tgz; rm x.tar y.tgz
#--- tar through pipes
mkdir d; echo a > d/a; tar cf - d | tar tf -; tar cf - d | (mkdir o; cd o; tar xf -); cat o/d/a; tar czf - d | tar xzOf - d/a
#--- tar strip components
mkdir -p a/b/c; echo x > a/b/c/f; echo y > a/g; tar cf t.tar a; mkdir o; tar xf t.tar -C o --strip-components=1; cd o; find . | sort; cd ..; mkdir q; tar xf t.tar -C q --strip-components 2; find q | sort; rm t.tar
#--- tar excludes
mkdir -p p/.git p/src p/node_modules/x; echo 1 > p/.git/c; echo 2 > p/src/a.c; echo 3 > p/src/a.o; echo 4 > p/node_modules/x/i; tar cf t.tar --exclude='*.o' --exclude=node_modules --exclude=.git p; tar tf t.tar | sort; printf '*.c\n' > ex; tar cf t.tar -X ex p; tar tf t.tar | sort; tar tf t.tar --exclude=src | sort; tar cf t.tar --exclude-vcs p; tar tf t.tar | sort; rm t.tar
#--- tar members
mkdir d; for i in a b c; do echo $i > d/$i; done; tar cf t.tar d/a d/b d/c; rm -r d; tar xf t.tar d/b; ls d; tar xf t.tar d/nope; echo $?; tar tf t.tar d/a d/c; tar tf t.tar --wildcards '*c'; tar xOf t.tar d/a d/c; rm t.tar
#--- tar changes directory
mkdir -p a b; echo 1 > a/x; echo 2 > b/y; tar cf t.tar -C a x -C ../b y; tar tf t.tar; mkdir o; tar -C o -xf t.tar; ls o; rm t.tar
#--- tar keeps old files
mkdir d; echo new > d/f; tar cf t.tar d/f; echo old > d/f; tar xkf t.tar; echo $?; cat d/f; tar xf t.tar --skip-old-files; echo $?; cat d/f; tar xf t.tar; cat d/f; rm t.tar
#--- tar names from a file
echo 1 > a; echo 2 > b; echo 3 > c; printf 'a\nc\n' > l; tar cf t.tar -T l; tar tf t.tar; ls a b | tar cf t.tar -T -; tar tf t.tar; printf 'b\0' | tar cf t.tar --null -T -; tar tf t.tar; rm t.tar
#--- tar appends and updates
echo 1 > a; echo 2 > b; tar cf t.tar a; tar rf t.tar b; tar tf t.tar; tar uf t.tar a; tar tf t.tar; touch -d tomorrow a; tar uf t.tar a; tar tf t.tar; tar rf n.tar b; tar tf n.tar; rm t.tar n.tar
#--- tar absolute names
mkdir d; echo a > d/f; tar cf t.tar "$PWD/d/f"; echo $?; tar tf t.tar | sed "s|^${PWD#/}||"; tar cPf t.tar "$PWD/d/f"; tar tPf t.tar | sed "s|^$PWD||"; rm t.tar
#--- tar dot
mkdir d; cd d; echo 1 > a; mkdir e; echo 2 > e/b; tar cf ../t.tar .; tar tf ../t.tar | sort; tar cf ../t.tar ./a; tar tf ../t.tar; rm ../t.tar
#--- tar hard links
echo a > a; ln a b; tar cf t.tar a b; tar tvf t.tar | sed 's/ .* \(.*\) link to/ \1 link to/' | tail -1; rm a b; tar xf t.tar; cat a b; echo x >> a; cat b; rm t.tar
#--- tar dereferences
echo a > a; ln -s a l; tar chf t.tar l; rm l; tar xf t.tar; test -L l; echo $?; cat l; rm t.tar
#--- tar errors
tar cf t.tar nope; echo $?; tar xf nope.tar; echo $?; echo garbage-garbage > g; tar tf g; echo $?; tar; echo $?; tar cf t.tar; echo $?; tar -xq; echo $?; head -c 2000 /dev/null > e; tar tf e; echo $?; rm -f t.tar
#--- tar long names
d=$(printf 'x%.0s' $(seq 1 90)); mkdir -p $d/$d; echo 1 > $d/$d/$d; tar cf t.tar $d; tar tf t.tar | wc; rm -r $d; tar xf t.tar; cat $d/$d/$d; rm t.tar
#--- tar size of archives
echo a > a; tar cf t.tar a; wc -c < t.tar; seq 1 5000 > b; tar cf t.tar a b; wc -c < t.tar; rm t.tar
#--- tar mtime
echo a > a; tar --mtime='2020-02-02 UTC' --sort=name -cf t.tar a; tar tvf t.tar | awk '{print $4,$5,$6}'; tar xf t.tar; date -r a +%F; tar xmf t.tar; test "$(date -r a +%F)" = 2020-02-02; echo $?; rm t.tar
#--- tar modes
mkdir d; echo a > d/a; chmod 600 d/a; chmod 700 d; tar cf t.tar d; rm -r d; tar xpf t.tar; ls -ld d d/a | cut -c1-10; rm t.tar
