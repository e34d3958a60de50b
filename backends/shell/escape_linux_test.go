package shell

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workspace/mcp-workspace/backends"
	"github.com/mcp-workspace/mcp-workspace/backends/shell/vfs"
)

// escapeEnv makes a test binary a child that runs all scripts of escapes, or
// with "control" leaves its bounds itself.
const escapeEnv = "MCP_WORKSPACE_TEST_ESCAPES"

// The child opens these names, which do not exist, before the first and after
// the last script.
const beginMark, endMark = "/mark-of-the-begin", "/mark-of-the-end"

// secret is in the environment of the child.
const secret = "hunter2-of-the-host"

// escapes are scripts that look for the machine.
var escapes = []string{
	`cat /etc/passwd /etc/hostname /etc/shadow /proc/self/environ /proc/self/maps /proc/1/environ /sys/class/net/lo/address`,
	`ls -la / /etc /proc /proc/self/fd /home /root /var /dev /sys; ls ../../../../..; find / -maxdepth 3`,
	`cat ../../../../../../etc/passwd; cat //etc//passwd /./etc/passwd /work/../etc/passwd`,
	`ln -s /etc/passwd l; cat l; ln -s / root; ls root/etc; cat root/etc/passwd; readlink -f l; realpath root/etc; cp -L l copy; cat copy`,
	`ln -s /proc/self/root r; ls r/; cd r/etc; pwd -P; cat passwd; cd /proc/self/cwd`,
	`. /etc/profile; source /etc/bash.bashrc; . ~/.bashrc; bash --login -c 'echo $PATH'; sh /etc/rc.local`,
	`echo $HOME $PATH $USER $TOKEN $PPID $$ $UID $EUID; env; export -p; declare -p; set`,
	`echo ~ ~root ~nobody ~daemon/x ~+ ~-; x=~root; echo $x; cd ~nobody`,
	`x=PPID; echo ${!x}; echo ${!P*}; echo ${!T*}; printenv TOKEN; awk 'BEGIN { for (k in ENVIRON) print k, ENVIRON[k] }'; jq -n env; jq -n '$ENV.TOKEN'; yq -n 'env(TOKEN)'`,
	`kill -9 1; kill -TERM $PPID; kill -0 1; for p in 1 2 3 1000; do kill -KILL $p; done; kill -9 -1`,
	`exec 3<>/dev/tcp/127.0.0.1/22; echo >/dev/tcp/127.0.0.1/80; cat </dev/udp/127.0.0.1/53; curl http://127.0.0.1; wget -q http://127.0.0.1; nc 127.0.0.1 22`,
	`/bin/ls; /usr/bin/env; /bin/sh -c 'echo nested; cat /etc/passwd'; /usr/bin/python3 -c 'print(1)'; /usr/bin/id; ./nothere; exec /bin/bash -c 'cat /etc/passwd'`,
	`python3 -c 'print(open("/etc/passwd").read())'; perl -e 'print 1'; node -e 1; git status; sudo id; su; gcc x.c; docker ps`,
	`cat <(cat /etc/passwd) >(cat >/tmp/x); diff <(ls /) <(ls /etc); read x < <(cat /etc/passwd); echo $x; TMPDIR=/tmp cat <(echo a)`,
	`mkfifo p; mknod n c 1 3; mktemp; mktemp -p /var/tmp; mktemp -d -t xXXXX; TMPDIR=/var/tmp mktemp`,
	`[ -r /etc/passwd ] && echo readable; [ -w /etc ]; [ -x /bin/sh ]; [ -O /etc/passwd ]; [[ -O /etc ]]; [[ -G / ]]; test -u /bin/su; [[ /etc -ef / ]]; [[ -t 0 ]]`,
	`ulimit -a; ulimit -n 1; umask 000; umask; times; nproc; uname -a; hostname; id; whoami; df -h; uptime; free; ps aux; mount`,
	`echo x >/etc/created-by-a-script; mkdir -p /var/lib/x; echo y >/var/lib/x/y; rm -rf /etc /home; chmod 777 /etc; touch /root/x; mv /etc /tmp/etc; ln /etc/passwd /tmp/p`,
	`head -c 99 /dev/zero /dev/random /dev/urandom; cat /dev/mem /dev/sda /dev/tty /dev/fd/0 /dev/fd/3 /dev/fd/99 /proc/self/fd/1; echo x >/dev/tty; ls -l /dev`,
	`awk 'BEGIN { system("cat /etc/passwd"); "cat /etc/hostname" | getline x; print x; print "x" > "/etc/awk"; print "y" | "cat"; while ((getline l < "/etc/passwd") > 0) print l }'`,
	`sed -n 'r /etc/passwd' /dev/null; echo x | sed 'w /etc/sed'; echo id | sed 's/.*/cat \/etc\/passwd/e'; echo x | sed '1e cat /etc/passwd'; sed -i s/a/b/ /etc/passwd; sed -f /etc/passwd`,
	`grep -r root /etc; grep -f /etc/passwd /etc/group; grep x /proc/*/cmdline; head /etc/*; cat /etc/pass*; echo /etc/* /proc/*/environ /home/*; compgen -f /etc/`,
	`tar cf a.tar /etc; tar xf a.tar -C /; tar -cf - --checkpoint=1 --checkpoint-action=exec=id .; tar -I 'sh -c id' -cf x .; tar --to-command=id -xf a.tar`,
	`find / -name passwd -exec cat {} \; -fprint /etc/found; find . -exec /bin/cat /etc/passwd \; ; echo /etc/passwd | xargs cat; xargs -a /etc/passwd echo; env cat /etc/passwd; timeout 1 cat /etc/passwd; time cat /etc/passwd`,
	`TZ=:/etc/localtime date; TZ=America/New_York date; TZ=../../../etc/passwd date; date -f /etc/passwd; date -r /etc/passwd; TZDIR=/etc TZ=passwd date; printf '%(%c)T\n' -1; ZONEINFO=/etc/passwd date`,
	`sort -T /var/tmp /etc/passwd; sort --compress-program=id /etc/group; split --filter='cat /etc/passwd' /dev/null; LC_ALL=de_DE.UTF-8 ls nothere; LOCPATH=/etc ls; shuf -n1 --random-source=/etc/passwd /dev/null`,
	`jq -n 'input' /etc/passwd; jq -n 'include "x"; 1'; jq -L /etc -n 'import "a" as a; 1'; jq -rn '"\(input_filename)"'; jq --slurpfile a /etc/passwd -n '$a'; yq '.a' /etc/hosts; file /etc/passwd; stat /etc/passwd; du -s /etc; md5sum /etc/passwd; sha256sum -c /etc/passwd; gzip -c /etc/passwd | zcat; base64 /etc/passwd; od /etc/passwd; xxd /etc/passwd; strings /bin/ls; cmp /etc/passwd /etc/group; patch /etc/passwd </dev/null; tree /; wc /etc/passwd; bc /etc/passwd </dev/null`,
	`cd /etc; pwd; cd -P /proc/self; cd //; pwd; cd ../..; ls; pushd /; popd; CDPATH=/etc cd ssl; OLDPWD=/etc cd -; HOME=/etc cd`,
	`trap 'cat /etc/passwd' EXIT; trap; exit`,
	`eval "cat /etc/passwd"; $(echo cat) /etc/passwd; "c"at /etc/passwd; x=/etc/passwd; cat $x "${x}"; cat < $x; cat <<<"$(</etc/passwd)"; mapfile a </etc/passwd; read -r l </etc/passwd; while read l; do echo $l; done </etc/passwd; exec </etc/passwd; cat`,
	`printf '#!/bin/cat\n' >s; chmod +x s; ./s; printf '#!/etc/passwd\n' >s; ./s; printf '\177ELF' >s; ./s; PATH=/bin:/usr/bin; hash -r; type ls cat python3; which python3 ls; command -v gcc`,
	`BASH_ENV=/etc/profile ENV=/etc/profile bash -c 'echo x'; bash -i -c 'echo y'; PROMPT_COMMAND='cat /etc/passwd'; PS4='$(cat /etc/passwd)'; set -x; echo; enable -f /lib/x.so x; LD_PRELOAD=/x ls`,
}

func init() { children[escapeEnv] = runEscapes }

// runEscapes is the child.
func runEscapes(how string) {
	files := vfs.New(vfs.Options{Limits: vfs.Limits{TotalBytes: 64 << 20, FileBytes: 32 << 20, Entries: 10_000, OpenFiles: 64}})
	if err := files.Mkdir("/work", 0o755); err != nil {
		panic(err)
	}
	run := func(script string) {
		_, err := Run(context.Background(), backends.Command{Script: script, Timeout: 10 * time.Second, Merge: true,
			Output: func(_ backends.Stream, b []byte) { os.Stdout.Write(b) }}, Options{Files: files, Dir: "/work"})
		fmt.Println("Run:", err)
	}
	run("echo warm | cat; sleep 0.01") // what the runtime does once
	_, _ = os.Open(beginMark)          // there is no such file
	switch how {
	case "control":
		// What is watched for is that they are tried.
		_, _ = os.ReadFile("/etc/hostname")
		_ = exec.Command("/bin/true").Run()
	default:
		for _, script := range escapes {
			run(script)
		}
	}
	_, _ = os.Open(endMark)
}

// TestEscapes runs scripts that look for the machine in a process whose system
// calls are watched: none may open a file, start a process or use the network.
func TestEscapes(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not there to watch system calls with")
	}
	calls, out := watched(t, strace, "control")
	if !strings.Contains(calls, "/etc/hostname") || !strings.Contains(calls, "execve") {
		t.Skipf("strace does not show what a process does here: %s %s", calls, out)
	}
	calls, out = watched(t, strace, "escapes")
	if calls != "" {
		t.Errorf("system calls that reach the machine:\n%s", calls)
	}
	if n := strings.Count(out, "\nRun:"); n < len(escapes) {
		t.Errorf("%d of %d scripts were run:\n%.5000s", n, len(escapes), out)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range []string{"root:x:0", "root:*:", secret, "/bin/bash\nroot"} {
		if strings.Contains(out, found) {
			t.Errorf("a script has found %q", found)
		}
	}
	if len(host) > 3 && strings.Contains(out, host) && host != "workspace" {
		t.Errorf("a script has found the name of the host, %q", host)
	}
	if strings.Contains(out, "has a defect") || strings.Contains(out, "defect of the shell") {
		t.Errorf("a script met a defect:\n%s", out)
	}
}

// harmless are system calls of Go's runtime itself: threads and their signals.
// A call that was interrupted is shown twice, and the first time tells all.
var harmless = regexp.MustCompile(`^(clone3?\(.*CLONE_THREAD|exit\(|exit_group|\+\+\+|---|<\.\.\. \w+ resumed|rt_sig|tgkill\(|futex)`)

// watched runs the child and returns its system calls between the marks that
// are about files, processes or the network, and its output.
func watched(t *testing.T, strace, how string) (calls, out string) {
	t.Helper()
	log := filepath.Join(t.TempDir(), "calls")
	ctx, cancel := context.WithTimeout(t.Context(), 120*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, strace, "-f", "-o", log, "-e", "trace=%file,%process,%network", os.Args[0])
	cmd.Env = []string{escapeEnv + "=" + how, "TOKEN=" + secret, "HOME=/root", "PATH=/usr/bin:/bin"}
	b, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %.2000s", err, b)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	_, after, ok1 := strings.Cut(string(text), beginMark)
	between, _, ok2 := strings.Cut(after, endMark)
	if !ok1 || !ok2 {
		t.Skipf("strace has not seen the marks: %.1000s", text)
	}
	var found []string
	for _, line := range strings.Split(between, "\n")[1:] {
		_, call, _ := strings.Cut(line, " ")
		call = strings.TrimSpace(call)
		if call == "" || harmless.MatchString(call) || strings.HasSuffix(call, `AT_FDCWD, "`) {
			continue
		}
		found = append(found, call)
	}
	return strings.Join(found, "\n"), string(b)
}
