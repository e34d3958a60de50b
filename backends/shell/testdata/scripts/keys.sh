#--- matrix
declare -A g; for i in 0 1; do for j in 0 1; do g[$i,$j]=$i$j; done; done; echo ${#g[@]} "${g[0,1]}" "${g[1,0]}"; r=1 c=1; g[$r,$c]=x; g["$r,$c"]+=y; echo "${g[1,1]}"; unset "g[$r,$c]"; echo ${#g[@]}; [[ -v g[0,1] ]] && echo set; [[ -v g[$r,$c] ]] || echo unset
#--- key with a minus
declare -A h; h[my-key]=1; echo "${!h[@]}"; k=my-key; echo ${h[$k]} "${h[my-key]}" "${h['my-key']}"
#--- keys with dots
declare -A h; h[db.host]=x; h[192.168.0.1]=y; echo "${h[db.host]}${h[192.168.0.1]}"; declare -A t=([example.com]=80 [c/d.js]=82); echo "${t[example.com]} ${t[c/d.js]}"
#--- keys with expansions
declare -A h; k=f; h[$k.txt]=1; h[src/$k.js]=2; h[$k $k]=3; h[$(echo a b).c]=4; h[$((1+1)).x]=5; x=1 y=2; h[$x:$y]=a; h[$x-$y]=b; h[$x/$y]=c; h["$x"."$y"]+=g; for k in "${!h[@]}"; do echo "$k=${h[$k]}"; done | sort
#--- keys with operators
declare -A m; m[/etc/passwd]=1; m[a:b]=2; m[@x]=3; m[x@y]=4; m[a?]=5; m[~]=6; m[#]=7; m[%d]=8; m[a=b]=9; m[a!b]=10; m[-]=11; m[.]=12; m[--x]=13; m[*.txt]=14; for k in "${!m[@]}"; do echo "$k=${m[$k]}"; done | sort
#--- keys that look like expressions
declare -A m; m[1+2]=x; m[1 + 2]=y; m[(1)]=z; m[i++]=p; m[++i]=q; m[-1]=r; m[!x]=s; m[a?b:c]=t; m[a,b]=u; m[a==b]=v; m[a<<b]=w; for k in "${!m[@]}"; do echo "<$k>=${m[$k]}"; done | sort
#--- keys with what separates commands
declare -A m; m[a;b]=1; m[a|b]=2; m[a&b]=3; m["a&b"]+=4; m[(x)]=5; m[{x}]=6; m[<x>]=7; for k in "${!m[@]}"; do echo "$k=${m[$k]}"; done | sort
#--- keys with quotes
declare -A m; m[a\ b]=1; m[\]]=2; m['x y']=3; m["p q"r]=4; m[$'t\tu']=5; m[a"b.c"d.e]=6; m['a]b']=7; m[a[0].b]=8; m[é ñ]=9; for k in "${!m[@]}"; do echo "$k=${m[$k]}"; done | sort
#--- keys in expressions
declare -A m; m[a b]=1; (( m[a b]++ )); echo $(( m[a b] + 1 )) ${m[a b]}; let "m[a.b]+=4"; echo ${m[a.b]}; k=a.b; (( m[$k]++ )); (( m["$k"] += 2 )); echo ${m[a.b]} $((m[a.b]*2))
#--- keys in expansions
declare -A m=([k.1]=v); echo ${#m[k.1]} ${m[k.1]:-no} ${m[k.2]:-no} ${m[k.1]^^} ${m[k.1]/v/w} "${m[k.1]} ${m[a b]-no}"
#--- keys in a here-document
declare -A m=([k.1]=v)
cat <<X
${m[k.1]} ${m[k 2]:-none}
X
#--- array over several lines
declare -A color=( [red]="#f00" [light blue]="#add"
  [x.y]=1 # comment
)
for k in "${!color[@]}"; do echo "$k ${color[$k]}"; done | sort
#--- counting words
declare -A c; while read -r w; do c[$w]=$(( ${c[$w]:-0} + 1 )); done <<< $'a b\nc.d\na b'; for w in a-b c.d a-b; do (( c[$w]++ )); done; for k in "${!c[@]}"; do echo "$k ${c[$k]}"; done | sort
#--- keys of local arrays and through references
declare -A h; f() { local -n r=h; r[a.b]=5; r[c-d]=6; local -A loc; loc[x.y]=1; loc[p-q]=2; echo "${r[a.b]}" ${#loc[@]} ${loc[x.y]}; }; f; echo "${h[a.b]} ${h[c-d]}"
#--- names of elements as arguments
declare -A h; k='x y'; h[$k]=1; test -v 'h[$k]' && echo a; [ -v "h[$k]" ] && echo b; unset 'h[$k]'; echo ${#h[@]}; printf -v "h[$k]" %s v; read -r "h[p q]" <<< w; echo "${h[x y]}${h[p q]}"
#--- empty key
declare -A h; k=; h[$k]=x; echo no
#--- no key in an indexed array
a=(1 2 3); echo ${a[1+1]} ${a[ 1 ]} ${a["0"]}; a[1 + 1]=9; echo ${a[@]}; (a[a b]=1; echo no); (echo ${a[a.b]}; echo no)
