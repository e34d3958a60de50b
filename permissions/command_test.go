package permissions

import (
	"strings"
	"testing"
)

func preset(t testing.TB, name string) *Ruleset {
	t.Helper()
	r, ok := Preset(name)
	if !ok {
		t.Fatalf("no preset %s", name)
	}
	return r
}

func TestEverydayCommandsStayAllowed(t *testing.T) {
	r := preset(t, "permissive")
	for line := range strings.SplitSeq(strings.TrimSpace(everyday), "\n") {
		line = strings.ReplaceAll(line, "⏎", "\n")
		t.Run(line, func(t *testing.T) {
			for name, sh := range map[string]Shell{"text only": nil, "with a workspace": emptyShell{}} {
				if d := r.Command(line, sh); d.Action != Allow {
					t.Errorf("%s: %s: %s: %s", name, d.Action, d.Target, d.Why)
				}
			}
		})
	}
}

// emptyShell is a workspace with nothing in it.
type emptyShell struct{}

func (emptyShell) Dir() string                     { return "/workspace" }
func (emptyShell) Resolve(p string) (string, bool) { return p, false }
func (emptyShell) Expand(string) ([]string, bool)  { return nil, false }

const everyday = `
ls
ls -la
ls *.py
ls -la .env
ls /usr/bin
pwd && whoami
cat README.md
cat *
cat /etc/os-release
cat src/*.go | wc -l
head -n 20 main.py
tail -f /var/log/app.log
echo hello
echo secrets
echo "the password is wrong" >&2
echo ".env" >> .gitignore
printf '%s\n' a b c
git status
git commit -m "fix password handling"
git commit -am 'add secrets manager' && git push
git checkout -b feature/password-reset
git log --oneline | head -5
git log --grep=password
git diff HEAD~1 -- src/main.go
git -C sub status
git clone https://github.com/org/secret-project.git
git grep password
git config user.name "A B"
git config core.pager cat
git stash && git pull --rebase && git stash pop
grep -rn password src/
grep -rn "api_key\|secret" --include='*.py' .
grep -E 'foo|bar' file.txt
rg 'password' -g '!*.lock'
find . -name '*.py' | xargs wc -l
find . -name "*.key"
find . -type f -name '*.pyc' -delete
find . -name '*.py' -exec grep -l foo {} \;
find src -name '*.tmp' -exec rm -f {} +
sed -i 's/foo/bar/g' src/*.go
sed -n '1,20p' main.go
awk '{print $1}' data.txt | sort | uniq -c
python -c 'print(1)'
python -c "import os; print(os.environ.get('HOME'))"
python3 script.py --verbose
/usr/bin/python3 x.py
python -m pytest -x -q
python - <<'EOF'⏎print("hi")⏎EOF
pip install python-dotenv
pip install -r requirements.txt
npm install && npm test
npm run build -- --watch=false
npx tsc --noEmit
go test ./...
go build -o bin/app ./cmd/app
cargo build --release
make -j4 test
rm -rf build
rm -rf ./node_modules dist/
rm -rf /workspace/build
rm -rf /tmp/x
rm -f *.o
rm file.txt
cd src && rm -rf build
mkdir -p a/b/c && touch a/b/c/d.txt
cp -r src backup
mv a.txt b.txt
chmod +x run.sh
chmod -R 755 src
tar czf out.tar.gz src
tar xzf /tmp/a.tar.gz -C vendor
curl -s https://example.com/api/password-reset
curl -sSL https://example.com/x.tar.gz -o x.tar.gz
wget -q https://example.com/file.zip
docker ps
env FOO=1 python x.py
FOO=bar make
export PATH=$PATH:$HOME/bin
PATH=$PATH:/opt/bin make
source venv/bin/activate && pip list
for i in 1 2 3; do echo $i; done
for f in *.py; do wc -l "$f"; done
for f in $(git ls-files); do wc -l "$f"; done
while read -r line; do echo "$line"; done < list.txt
if [ -f .env ]; then echo yes; fi
test -f package.json && cat package.json
[[ -d build ]] || mkdir build
x=$(date +%s); echo "took $x"
DIR=build && mkdir -p $DIR && cd $DIR && cmake ..
n=$((1+2)); echo $n
kill $(pgrep -f server)
ps aux | grep python | awk '{print $2}'
nohup python server.py > server.log 2>&1 &
timeout 10 ./run.sh
sleep 1; echo done
bash -c 'echo hi'
bash scripts/build.sh
sh -c "make test"
xargs -n1 echo < list.txt
diff -u a.txt b.txt
sort -u names.txt > sorted.txt
echo x > /dev/null
dd if=/dev/zero of=/dev/null bs=1M count=1
dd if=/dev/zero of=disk.img bs=1M count=1
cat <<EOF > config.yaml⏎key: value⏎EOF
cat > main.c <<'EOF'⏎int main() { return 0; }⏎EOF
ln -s src/main.go link.go
which python3
command -v git
date; uname -a; id
fact() { [ $1 -le 1 ] && echo 1 || echo $(( $1 * $(fact $(($1-1))) )); }; fact 5
set -euo pipefail; make
trap 'rm -f tmp.txt' EXIT; make
time make
! grep -q foo bar.txt
tee out.log < in.txt
jq '.a.b' data.json
ssh-keygen -l -f id.pub
ls ~
cd ~/project && ls
echo $HOME
node -e "console.log('a/b.txt')"
perl -pe 's/a/b/' x.txt
uv run pytest
cat foo.txt 2>/dev/null || true
test -n "$CI" && echo ci
`
