#--- identity and fields
echo '{"b":1,"a":[1,2,{"c":null}],"s":"x"}' > f; jq . f; jq -c . f; jq .a f; jq '.a[2].c' f; jq -r .s f; jq .s f; jq '.nope' f; jq '."b"' f; jq '.a[0], .b' f; jq '.["a"][1]' f; cat f | jq -S -c .
#--- raw, join and tabs
echo '["a","b\n",1]' | jq -r '.[]'; echo '["a","b"]' | jq -j '.[]'; echo; echo '{"a":[1]}' | jq --tab .; echo '{"a":[1]}' | jq --indent 4 .; echo '{"a":[1]}' | jq --indent 0 .; echo '"\u00e9\ud83d\ude00"' | jq -a .; echo '"\u0001\t\"\\/"' | jq .
#--- iteration and pipes
echo '[{"n":"x","v":1},{"n":"y","v":2}]' > f; jq '.[].n' f; jq -c '.[] | {n}' f; jq 'map(.v) | add' f; jq -r '.[] | "\(.n)=\(.v)"' f; jq -c 'map(select(.v>1))' f; jq -c '[.[] | .v * 10]' f; jq 'length' f; jq -c '.[1:]' f; jq '.[-1].n' f; jq -c 'map({(.n): .v}) | add' f
#--- order of keys
echo '{"z":1,"y":{"q":1,"b":2},"a":3}' > f; jq -c . f; jq -c keys f; jq -c keys_unsorted f; jq -c to_entries f; jq -c '.new=1' f; jq -c 'del(.y)' f; jq -c '{a, z}' f; jq -c '.[]' f; jq -c 'with_entries(.value |= tostring)' f; jq -c '. + {c:1}' f; jq -c 'map_values(.)' f; jq -r 'to_entries[] | .key' f; jq -c '.y.b = 9' f
#--- constructing
jq -nc '{a:1,"b c":2,(("x","y")):3}'; jq -nc '[range(5)]'; jq -nc '[range(0;10;3)]'; jq -nc '{a:(1,2)}'; jq -nc '[1,[2]] | flatten'; jq -n '"a" + "b"'; jq -nc '{a:1} * {b:{c:2}}'; jq -nc '[1,2] + [3] - [2]'; jq -n '10 / 4, 7 % 3, -1'; jq -n '"x" * 3'
#--- conditions
jq -nc '[1,2,3] | map(if . > 2 then "big" elif . == 2 then "two" else "small" end)'; jq -n 'null // "d"'; jq -n '[] | first // "none"'; jq -nc '[1,null,false,0] | map(. and true)'; jq -n '1 == 1.0, "a" < "b", ([1] < [2]), (not)'; jq -nc 'try error("x") catch .'; jq -nc '[.[]?]'; jq -n '{} | .a?.b?'
#--- strings
jq -nc '"a,b,c" | split(",")'; jq -nc '["a","b"] | join("-")'; jq -n '"Hello" | ascii_downcase, ascii_upcase, length, test("l+"), ltrimstr("He"), rtrimstr("lo")'; jq -nc '"a1b22" | [scan("[0-9]+")]'; jq -n '"foo bar" | sub("o+";"0"), gsub("o";"0")'; jq -nc '"abc" | explode, (explode|implode)'; jq -n '"x" | startswith("x"), endswith("y"), contains("x")'; jq -nc '"k=v" | capture("(?<k>\\w)=(?<v>\\w)")'; jq -nc '"a b" | splits(" ")'; jq -n '"abc" | .[1:2], index("c")'
#--- formats
jq -nr '[1,"a\"b",null,true] | @csv, @tsv'; jq -nr '"<a>&" | @html'; jq -nr '"a b/é" | @uri'; jq -nr '"it'"'"'s" | @sh'; jq -nr '"hi" | @base64, (@base64|@base64d)'; jq -nr '{a:1} | @json, tojson, (tojson|fromjson|.a)'; jq -nr '@text "v: \([1])"'; jq -nr '@sh "echo \("a b")"'
#--- aggregation
echo '[{"g":"a","v":3},{"g":"b","v":1},{"g":"a","v":2}]' > f; jq -c 'group_by(.g) | map({g:.[0].g, n:length, s:(map(.v)|add)})' f; jq -c 'sort_by(.v) | map(.v)' f; jq -c 'unique_by(.g) | map(.g)' f; jq -c 'min_by(.v), max_by(.v)' f; jq -c '[.[].v] | sort, reverse, min, max, add, (add/length)' f; jq -nc '[3,1,2,1] | unique, sort, index(1), any(.>2), all(.>0)'
#--- reduce and foreach
jq -n 'reduce range(5) as $i (0; . + $i)'; jq -nc '[foreach range(4) as $i (0; . + $i; [$i, .])]'; jq -nc '[limit(3; range(10))], [first(range(5))], ([range(5)]|last)'; jq -nc '[.[]?], [recurse(if . < 3 then .+1 else empty end)]' ; jq -nc '0 | [while(. < 4; .+2)], until(. > 9; .+3)'; jq -nc 'def f(x): x * 2; f(21)'; jq -nc 'def fac: if . <= 1 then 1 else . * (. - 1 | fac) end; 5 | fac'; jq -nc '. as [$a] | {a:1} as {a:$x} | $x'
#--- updates and paths
echo '{"a":{"b":[1,2]},"c":3}' > f; jq -c '.a.b[0] = 9' f; jq -c '.c += 1' f; jq -c '.a.b |= map(.+1)' f; jq -c 'del(.a.b[0])' f; jq -c '[paths]' f; jq -c '[leaf_paths]' f; jq -c 'getpath(["a","b",1])' f; jq -c 'setpath(["x","y"]; 1)' f; jq -c '.d //= 5' f; jq -c 'to_entries | from_entries' f; jq -c '[..|numbers]' f; jq -c 'path(.a.b[0])' f; jq -c 'delpaths([["c"]])' f; jq -c 'walk(if type=="number" then .+1 else . end)' f; jq -c 'has("a"), has("q")' f; jq -c 'tostream' f
#--- arguments
jq -n --arg x 1 --argjson y '{"a":2}' '$x, $y.a'; jq -n '$ENV.FOO, env.FOO' ; FOO=bar jq -n 'env.FOO, $ENV.FOO'; echo '[1] [2]' > s; jq -nc --slurpfile s s '$s'; echo text > r; jq -n --rawfile r r '$r'; jq -nc '$ARGS.positional' --args a b; jq -nc '$ARGS.named' --arg k v; jq -nc --jsonargs '$ARGS.positional' 1 '{"a":2}'; echo '.a' > p.jq; echo '{"a":5}' | jq -f p.jq
#--- several inputs
printf '1 2\n3' | jq -c .; printf '1 2 3' | jq -s -c .; printf '1 2 3' | jq -n '[inputs] | add'; printf '1 2 3 4' | jq -c '[., input]'; printf 'a\nb\n' | jq -R .; printf 'a\nb\n' | jq -Rs .; printf 'a\nb\n' | jq -Rn -c '[inputs]'; echo 1 > x; echo 2 > y; jq . x y; jq -s -c . x y; printf '' | jq .; echo $?
#--- types and numbers
jq -nc '[1,"a",null,true,[],{}] | map(type)'; jq -n '1e3, 1.5, 100000000000, 0.1, 1e100, -0.5, 3.0'; echo '[1.0, 1.50, 1e2]' | jq -c .; jq -n '"12" | tonumber, ("1.5"|tonumber)'; jq -n '5 | tostring, floor, sqrt'; jq -n '3.7 | floor, ceil, round, fabs'; jq -n '[1,2] | tostring'; jq -n 'infinite | . > 1, isinfinite'; jq -n '10 | pow(.;2), log10'
#--- exit codes
echo '{"a":false}' | jq -e .a; echo $?; echo '{"a":1}' | jq -e .a; echo $?; jq -ne empty; echo $?; echo '1' | jq '.a'; echo $?; jq -n '{'; echo $?; jq . nope; echo $?; jq -n 'error("x")'; echo $?; jq -n '"m" | halt_error'; echo $?; jq -n '1 | halt'; echo $?
#--- dates and others
jq -n '0 | todate, (todate|fromdate)'; jq -n '"2015-03-05T23:51:47Z" | fromdateiso8601'; jq -nr '0 | strftime("%Y-%m-%d")'; jq -nc '[1,2,3] | contains([1]), inside([1,2,3,4]), (.[1:]|length)'; jq -nc '{"a":[1,2]} | tojson | fromjson'; jq -nc '[[1,2],[3,4]] | transpose'; jq -nc '[{"a":1},{"b":2}] | add'; jq -nc '"abc" | ascii_downcase | @json'; jq -nc '[1,[2,[3]]] | flatten(1)'; jq -nc 'input' < /dev/null; echo $?; jq -nc '[splits("a";"b")]?' ; jq -nc '{} | .a.b.c = 1'; jq -nc '[range(10)] | .[2:4] = ["x"]'; jq -nc '[1,2] | combinations?' ; jq -nc '[[1,2],[3]] | [combinations]'
#--- common filters
echo '{"name":"p","version":"1.0","scripts":{"b":"x","a":"y"}}' > package.json; jq '.version="2.0"' package.json > t && mv t package.json; cat package.json; jq -r '.scripts | keys[]' package.json; jq -r '.scripts | to_entries[] | "\(.key): \(.value)"' package.json; jq --arg v 3 '.version = $v' package.json; jq -c '.deps.x = "1"' package.json; jq 'del(.scripts)' package.json; echo '[{"id":1,"tags":["a","b"]},{"id":2,"tags":[]}]' | jq -r '.[] | [.id, (.tags|join(";"))] | @csv'
#--- exit code of input that is no JSON
echo '{' | jq . ; echo $?; echo '1 [' | jq .; echo $?
#--- differs: jq 1.6 exits 4 here, later ones 2, as documented
