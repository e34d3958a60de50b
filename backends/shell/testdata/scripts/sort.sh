#--- plain
printf 'b\na\nC\nB\n' | sort; printf 'b\na\n' | sort -r; printf '10\n9\n' | sort; printf 'b\na' | sort
#--- numbers
printf '10\n9\n-3\n1.5\n1.25\n\nx\n007\n' | sort -n; printf '1e3\n20\n-inf\n5\nx\n' | sort -g; printf '2K\n1M\n100\n3G\n1K\n' | sort -h
#--- months and versions
printf 'Mar\njan\nfoo\nDEC\n' | sort -M; printf 'a10\na2\na1.1\na1.10\na1.9\n' | sort -V; printf '1.0.10\n1.0.9\n1.0\n1.0-rc1\n1.0~rc\n' | sort -V
#--- versions of files
printf 'f-1.10.tar.gz\nf-1.9.tar.gz\nf-1.9.1.tar.gz\n.x\n..\nA\na\n' | sort -V
#--- unique
printf 'b\na\nb\na\n' | sort -u; printf '1 x\n1 y\n01 z\n' | sort -nu; printf 'a\nA\nb\n' | sort -fu
#--- fold and dictionary
printf 'b\nA\na\nB\n' | sort -f; printf 'a-b\nab\na c\n' | sort -d; printf 'a\001b\naa\n' | sort -i | cat -v
#--- keys
printf 'x 3\ny 1\nz 2\n' | sort -k2; printf 'x 10\ny 9\n' | sort -k2n; printf 'a 1\nb 1\nc 0\n' | sort -k2,2n -k1,1r; printf 'a:3\nb:1\n' | sort -t: -k2
#--- keys with characters
printf 'xb1\nxa2\nxc0\n' | sort -k1.2,1.2; printf 'xb1\nxa2\nxc0\n' | sort -k1.3; printf 'a  2\nb 1\n' | sort -k2; printf 'a  2\nb 1\n' | sort -b -k2; printf 'a  2\nb 1\n' | sort -k2b,2
#--- stable and last resort
printf 'b 1\na 1\n' | sort -k2,2; printf 'b 1\na 1\n' | sort -s -k2,2; printf 'b 1\na 1\n' | sort -s -k2,2 -r
#--- keys that reverse
printf 'a 1\nb 2\nc 1\n' | sort -k2,2nr -k1,1; printf 'a 1\nb 2\n' | sort -r -k2,2n; printf '3\n1\n2\n' | sort -nr
#--- check
printf 'a\nb\n' | sort -c; echo $?; printf 'b\na\n' | sort -c; echo $?; printf 'b\na\n' | sort -C; echo $?; printf 'a\na\n' | sort -cu; echo $?
#--- output
printf 'b\na\n' > f; sort f -o f; cat f; sort -o g f; cat g; printf 'b\0a\0' | sort -z | tr '\0' '\n'
#--- several files and merge
printf 'b\nd\n' > x; printf 'a\nc\n' > y; sort x y; sort -m x y; sort - x < y
#--- separators
printf 'a,3,x\nb,1,y\nc,2,z\n' | sort -t, -k2,2n; printf 'a,,2\nb,,1\n' | sort -t, -k3; printf 'a\t2\nb\t1\n' | sort -t$'\t' -k2
#--- errors
sort nope; echo $?; sort -k 0; echo $?; sort -t ab; echo $?; sort --sort=foo; echo $?; sort -k x; echo $?; sort -Q; echo $?; sort -nd </dev/null; echo $?
#--- random keeps equal lines together
printf 'a\nb\na\n' | sort -R | uniq | wc -l; printf 'b\na\n' | sort --parallel=2 -S 1M -T /tmp
#--- empty input
sort /dev/null; echo $?; printf '\n\n' | sort | wc -l; printf '' | sort -u
#--- human numbers with signs
printf -- '-1K\n2\n-3\n0\n1K\n' | sort -h; printf '1,2\n1.2\n' | sort -n
