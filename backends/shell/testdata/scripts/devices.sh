#--- zeros
head -c 5 /dev/zero | od -c; dd if=/dev/zero of=f bs=1k count=3 2>/dev/null; wc -c f; head -c 3 < /dev/zero | od -An -tx1; dd if=/dev/full bs=4 count=1 2>/dev/null | od -c; cmp -n 100 /dev/zero /dev/full; echo $?; exec 3</dev/zero; head -c 2 <&3 | wc -c
#--- random bytes
head -c 100 /dev/urandom | wc -c; head -c 16 /dev/random > a; head -c 16 /dev/urandom > b; cmp -s a b; echo $?; tr -dc a-z < /dev/urandom | head -c 8 | wc -c; od -An -N4 -tu4 /dev/urandom | wc -l; [ "$(head -c 9 /dev/urandom | base64)" = "$(head -c 9 /dev/urandom | base64)" ]; echo $?; rm a b
#--- what is written to devices
echo x > /dev/zero; echo $?; echo x > /dev/full; echo $?; echo x >> /dev/urandom; echo $?; seq 3 | tee /dev/full; echo $?; cat /etc/hostname > /dev/full; echo $?; dd if=/dev/zero of=/dev/null bs=1k count=2 2>/dev/null; echo $?; : > /dev/full; echo $?
#--- devices as files
for d in zero full random urandom; do [ -c /dev/$d ] && [ ! -f /dev/$d ] && [ -e /dev/$d ] && echo $d; done; stat -c %F /dev/zero /dev/full; find /dev/zero /dev/full -type c; cp /dev/null n; wc -c n
#--- devices are not searched
mkdir d; echo hit > d/f; timeout 10 grep -rl hit d /dev/fd/0 < /dev/null; echo $?
