#--- od
printf 'hello world, 0123456789\n' | od; printf 'hello\n' | od -c; printf 'hello\n' | od -x; printf '\0\1\377' | od -b; printf 'abc' | od -An -tx1; printf '' | od
#--- od types
printf 'hello world 12345' > f; for t in x1 x2 x4 x8 d1 d2 d4 d8 u1 u2 u4 u8 o1 o2 o4 o8 c a xC dS uI oL x1z c1; do od -t $t f; done; od -t x1 -t c f; od -tx1c f; od -t x1z -t d2 f
#--- od floats
printf '\0\0\200\077\0\0\0\0\0\0\360\077\001\002\003\004' | od -t f4; printf '\0\0\0\0\0\0\360\077\030\055\104\124\373\041\011\100' | od -t f8; printf '\0\0\200\077' | od -f
#--- od addresses
seq 1 30 > f; od -A d f; od -A x f; od -A n f; od -Ad -c -N 20 f; od -j 5 -N 7 -c f; od -Ax -tx1 -j 0x10 f
#--- od squeezes
head -c 100 /dev/zero 2>/dev/null > f || printf '%0100d' 0 | tr 0 '\0' > f; od f; od -v f; printf 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab' | od -c
#--- od width
seq 1 30 | od -w8 -c; seq 1 30 | od -w -tx1; seq 1 10 | od -An -w4 -tx1; seq 1 10 | od -w5 -c -v
#--- od names of characters
printf '\0\a\b\t\n\v\f\r\033 \177\200\377aZ' | od -a; printf '\0\a\b\t\n\v\f\r\033 \177\200\377aZ' | od -c
#--- od old options
printf 'hello world' > f; for o in -b -c -d -o -s -x -i -l -a -h -D -O -X -I -H; do od $o f; done
#--- od errors and several files
printf abc > a; printf defg > b; od -c a b; od -c a nope b; echo $?; od -t q a; echo $?; od -A q a; echo $?; od -j 100 a; echo $?; od -tx3 a; echo $?; od --endian=big -tx2 b
#--- xxd
printf 'hello world, 0123456789 \1\2\377\n' > f; xxd f; xxd < f; xxd -p f; xxd -u f; xxd -b f; xxd -c 8 f; xxd -g 1 f; xxd -g 4 f; xxd -g 0 f; xxd -c 10 -g 3 f
#--- xxd offsets
seq 1 50 > f; xxd -s 16 f | head -2; xxd -l 20 f; xxd -s -10 f; xxd -s 0x10 -l 16 f; xxd -d f | tail -2; xxd -o 256 -l 16 f; xxd -l 0 f; xxd -len 3 f
#--- xxd plain
seq 1 30 | xxd -p; seq 1 30 | xxd -p -c 10; seq 1 10 | xxd -ps -c 100; seq 1 30 | xxd -p -u | head -1; printf '' | xxd; printf '' | xxd -p
#--- xxd reverse
seq 1 50 > f; xxd f | xxd -r | cmp - f; echo $?; xxd -p f | xxd -r -p | cmp - f; echo $?; xxd -c 7 -g 1 f | xxd -r -c 7 | cmp - f; echo $?; echo '68656c6c6f0a' | xxd -r -p; echo '00000000: 6865 6c6c 6f0a  hello.' | xxd -r; printf '68 65\n6c6c6f 0a' | xxd -r -p; echo '0x68 0x69 0a' | xxd -r -p | od -c
#--- xxd include
printf 'hello' > f.txt; xxd -i f.txt; xxd -i < f.txt; printf 'abcdefghijklmnopq' > 1x; xxd -i 1x; xxd -i -c 4 1x
#--- xxd little endian and bits
printf 'abcdefghij' > f; xxd -e f; xxd -e -g 2 f; xxd -b -c 4 f; xxd -b f
#--- xxd autoskip
head -c 100 /dev/zero 2>/dev/null > f || printf '%0100d' 0 | tr 0 '\0' > f; xxd -a f; echo x >> f; xxd -a f
#--- xxd output and errors
printf abc > a; xxd a o; cat o; xxd nope; echo $?; xxd -p a > h; xxd -r -p h b; cat b; echo
#--- hexdump
printf 'hello world, 0123456789\n' > f; hexdump f; hexdump -C f; hexdump -c f; hexdump -b f; hexdump -d f; hexdump -o f; hexdump -x f; hd f
#--- hexdump options
seq 1 50 > f; hexdump -C -n 20 f; hexdump -C -s 10 -n 20 f; hexdump -n 5 f; printf '' | hexdump -C; printf 'a' | hexdump; printf 'abc' | hexdump -C; hexdump -s 0x10 -n 16 f
#--- hexdump squeezes
printf '%0100d' 0 > f; hexdump -C f; hexdump -v -C f; hexdump f
#--- strings
printf 'ab\0hello\1world!\0xyz\0long string here\n' > f; strings f; strings -n 3 f; strings -2 f; strings -t d f; strings -t x f; strings -t o -n 5 f; strings -f f; strings < f; strings -a f; strings --bytes=6 f
#--- strings of text
printf 'short\nno\nlonger line\ttab\n' | strings; printf 'caf\303\251 latte\n' | strings; printf 'abc' | strings; strings -n 0 x; echo $?; strings nope; echo $?
