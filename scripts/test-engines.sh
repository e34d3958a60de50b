#!/usr/bin/env bash
# Real container engines for the tests: a Docker Engine and a Podman service of
# their own, beside whatever else runs on the machine, with the images that the
# tests use. Needs root and a Debian machine.
#
#   install   the Debian packages, where they are missing
#   start     installs, starts what does not run, makes the images that are
#             missing; prints docker=, podman=, debian=, busybox=, scratch= lines
#   status    prints the same lines for what runs; exit code 3 when not all does
#   stop      ends what start started and removes containers and volumes;
#             the images are kept for the next start
#   clean     stop, and remove the images too
#
# Everything is in one directory, $TEST_ENGINES_DIR, by default one for each
# checkout below /var/tmp/mcp-workspace-engines; root file systems for the images
# are kept in $TEST_ENGINES_CACHE and shared. Nothing below /etc is changed. Two
# that run at once wait for each other.
#
# $TEST_ENGINES (default "docker podman"; there is also "rootless", a Podman of a
# user that exists nowhere else) says which engines start and status mean,
# $TEST_ENGINES_IMAGES (default "debian busybox scratch") which images, and
# $TEST_ENGINES_DISK (megabytes) puts Docker's data on a file system of that size.
# Exit code 4: this machine cannot run rootless Podman; the reason is printed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

base=/var/tmp/mcp-workspace-engines
id=$(printf %s "${TEST_ENGINES_DIR:-$PWD}" | sha256sum | cut -c1-8)
home=${TEST_ENGINES_DIR:-$base/$id}
cache=${TEST_ENGINES_CACHE:-$base/images}
engines=${TEST_ENGINES:-docker podman}
images=${TEST_ENGINES_IMAGES:-debian busybox scratch}
disk=${TEST_ENGINES_DISK:-}
bridge=mcpws$id podman_bridge=mcpwp$id
# The user of rootless Podman and the ids of its containers, far from real ones.
rootless_uid=$((1000000000 + 16#$id % 1000000000))
rootless_ids=$((2000000000 + 16#$id % 30000 * 65536))
wait_seconds=60

say() { echo "test-engines: $*" >&2; }
die() { say "$*"; exit 1; }
uses() { [[ " $engines " == *" $1 "* ]]; }

# --- packages ---------------------------------------------------------------

has_static_busybox() { command -v busybox >/dev/null && ! ldd "$(command -v busybox)" >/dev/null 2>&1; }

# PATH of a service or a desktop may lack the system's own directories.
export PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin

missing_packages() {
  command -v dockerd >/dev/null && command -v docker >/dev/null || echo docker.io
  command -v podman >/dev/null || echo podman
  command -v runc >/dev/null || echo runc
  [[ -x /usr/lib/cni/bridge ]] || echo containernetworking-plugins
  has_static_busybox || echo busybox-static
  command -v debootstrap >/dev/null || echo debootstrap
  command -v ip >/dev/null || echo iproute2
  command -v iptables >/dev/null || echo iptables
  command -v mkfs.ext4 >/dev/null || echo e2fsprogs
  # Rootless Podman.
  command -v newuidmap >/dev/null || echo uidmap
  command -v slirp4netns >/dev/null || echo slirp4netns
}

install() {
  local missing
  mapfile -t missing < <(missing_packages)
  ((${#missing[@]} == 0)) || scripts/apt-install.sh "${missing[@]}" >&2
}

# --- processes --------------------------------------------------------------

socket() { # ENGINE: the path of its socket
  if [[ $1 == rootless ]]; then echo "$home/rootless/podman.sock"; else echo "$home/$1.sock"; fi
}

# daemon NAME: the pid of our running dockerd or podman service, else fails. The
# pid in the file counts only while that process is what it was.
daemon() {
  local pid
  pid=$(cat "$home/$1.pid" 2>/dev/null) && [[ -n $pid ]] || return 1
  tr '\0' '\n' 2>/dev/null <"/proc/$pid/cmdline" | grep -qxF "unix://$(socket "$1")" || return 1
  echo "$pid"
}

on() { # on NAME ARGUMENT…: the docker CLI against one of the engines
  local engine=$1
  shift
  env -u DOCKER_CONTEXT -u DOCKER_TLS_VERIFY DOCKER_CONFIG="$home/cli" \
    timeout -k 5 "$wait_seconds" docker --host "unix://$(socket "$engine")" "$@" 9>&-
}

answers() { daemon "$1" >/dev/null && on "$1" version >/dev/null 2>&1; }

# await NAME: until the engine answers, or its log's end and a failure.
await() {
  local deadline=$((SECONDS + wait_seconds))
  until answers "$1"; do
    if ((SECONDS >= deadline)) || ! daemon "$1" >/dev/null; then
      say "$1 does not answer; the end of $home/$1.log:"
      tail -n 25 "$home/$1.log" >&2
      return 1
    fi
    sleep 0.1
  done
}

# launch NAME COMMAND…: starts a daemon that outlives this script and holds none
# of its descriptors.
launch() {
  local name=$1
  shift
  rm -f "$(socket "$name")"
  # From a directory that stays: what they start fails where a checkout was removed.
  (cd / && exec setsid "$@" </dev/null >"$home/$name.log" 2>&1 9>&- 8>&-) &
  echo $! >"$home/$name.pid"
}

# leftovers ENGINE: pids of the daemons, monitors and shims that belong to it.
leftovers() {
  local pid file
  grep -lasF -f <(printf '%s\n' "$home/$1/" "$(socket "$1")") /proc/[0-9]*/cmdline |
    while read -r file; do
      pid=${file#/proc/} pid=${pid%/cmdline}
      case $(cat "/proc/$pid/comm" 2>/dev/null) in
        dockerd | containerd | containerd-shim* | conmon) echo "$pid" ;;
        podman) ! tr '\0' ' ' <"/proc/$pid/cmdline" | grep -qF ' system service ' || echo "$pid" ;;
      esac
    done || true # none is no failure
  if [[ $1 == rootless ]]; then
    grep -lsE "^Uid:[[:space:]]+$rootless_uid[[:space:]]" /proc/[0-9]*/status | grep -oE '[0-9]+' |
      while read -r pid; do ! runs "$pid" || echo "$pid"; done || true
  fi
}

descendants() { # PID…: they and all that they started
  local pid
  for pid in "$@"; do
    echo "$pid"
    # shellcheck disable=SC2046 # a list of pids
    descendants $(cat /proc/"$pid"/task/*/children 2>/dev/null)
  done
}

# end_leftovers ENGINE: what a daemon that was killed could not end itself:
# shims, their containers, mounts.
end_leftovers() {
  local pids mount calm=0
  # A monitor starts a clean-up when its container ends, and that a process that
  # stays: until a second look finds nothing new.
  for _ in {1..20}; do
    mapfile -t pids < <(leftovers "$1")
    if ((${#pids[@]})); then
      calm=0
      mapfile -t pids < <(descendants "${pids[@]}")
      kill -KILL "${pids[@]}" 2>/dev/null || true
      wait_gone "${pids[@]}"
    elif ((calm++)); then
      break
    fi
  done
  awk -v dir="$home/$1" '$2 == dir || index($2, dir "/") == 1 {print $2}' /proc/self/mounts | sort -r |
    while read -r mount; do umount "$mount" 2>/dev/null || umount -l "$mount"; done
}

runs() { # PID: whether the process is there and no zombie
  [[ $(sed 's/.*) //; s/ .*//' "/proc/$1/stat" 2>/dev/null) == [^ZX] ]]
}

wait_gone() { # PID…: until they are gone or zombies, ten seconds at most
  local pid deadline=$((SECONDS + 10))
  for pid in "$@"; do
    while runs "$pid"; do
      if ((SECONDS > deadline)); then
        say "process $pid ($(cat "/proc/$pid/comm" 2>/dev/null)) does not end"
        return 1
      fi
      sleep 0.05
    done
  done
}

# --- networks ---------------------------------------------------------------

# pick_network: a /16 that no route of this machine overlaps, as "10.213": the
# first quarter is Docker's bridge, the second Podman's, the second half for
# networks that tests make.
pick_network() {
  local net route
  if [[ -d /sys/class/net/$bridge && -s $home/network ]]; then
    cat "$home/network"
    return
  fi
  for net in 10.{213..250} 172.{20..31}; do
    route=$(ip -4 route show root "$net.0.0/16"; ip -4 route show match "$net.0.0/16" | grep -v '^default' || true)
    if [[ -z $route ]]; then
      echo "$net" | tee "$home/network"
      return
    fi
  done
  die "no free address range for the test networks"
}

rules() { # rules -A|-D: what lets containers out, for all networks of the range
  local net=$1.0.0/16 action=$2 insert=$2
  [[ $action == -D ]] || insert=-I
  iptables -w 10 -t nat "$action" POSTROUTING -s "$net" ! -d "$net" -j MASQUERADE -m comment --comment "$bridge"
  iptables -w 10 "$insert" FORWARD -s "$net" -j ACCEPT -m comment --comment "$bridge"
  iptables -w 10 "$insert" FORWARD -d "$net" -j ACCEPT -m comment --comment "$bridge"
}

# network_up: prints the range, with the bridge and the rules for it in place.
# One at a time on the machine, so that no two pick the same. dockerd makes no
# rules of its own (--iptables=false): a second dockerd would take away those of
# the first.
network_up() {
  local net
  exec 7>"$base/network.lock"
  flock 7
  net=$(pick_network)
  echo "$net"
  if [[ -d /sys/class/net/$bridge ]]; then
    exec 7>&-
    return
  fi
  ip link add "$bridge" type bridge
  # An address that is set stays. Else it is the lowest of its ports and changes as
  # containers come and go, and what others send to the old one is lost.
  ip link set "$bridge" address "$(cat "/sys/class/net/$bridge/address")"
  ip address add "$net.0.1/18" dev "$bridge"
  ip link set "$bridge" up
  rules "$net" -A
  if [[ $(cat /proc/sys/net/ipv4/ip_forward) != 1 ]]; then
    echo 1 >/proc/sys/net/ipv4/ip_forward
  fi
  exec 7>&-
}

network_down() {
  local net
  if [[ -d /sys/class/net/$bridge ]]; then
    net=$(cat "$home/network")
    rules "$net" -D || true
    ip link delete "$bridge"
  fi
  [[ ! -d /sys/class/net/$podman_bridge ]] || ip link delete "$podman_bridge"
  rm -f "$home/network"
}

# --- engines ----------------------------------------------------------------

# drop_after_boot DIR…: removes what engines keep in directories that are empty
# after a boot on most machines; they tell by it that nothing runs any more.
drop_after_boot() {
  local boot
  boot=$(cat /proc/sys/kernel/random/boot_id)
  [[ $(cat "$1.boot" 2>/dev/null) == "$boot" ]] || rm -rf "$@"
  mkdir -p "$(dirname "$1")"
  echo "$boot" >"$1.boot"
}

start_docker() {
  local net=$1 containerd runtimes='{}'
  if command -v runsc >/dev/null; then
    runtimes="{\"runsc\": {\"path\": \"$(command -v runsc)\"}}"
  fi
  mkdir -p "$home/docker"
  if [[ -n $disk ]] && ! mountpoint -q "$home/docker"; then
    if [[ ! -e $home/docker.img ]]; then
      truncate -s "${disk}M" "$home/docker.img"
      mkfs.ext4 -q -m 0 "$home/docker.img"
    fi
    mount -o loop "$home/docker.img" "$home/docker"
  fi
  drop_after_boot "$home/docker/exec"
  # It gives the bridge the address that it had before, whatever it has now.
  if [[ $(cat "$home/docker/bridge" 2>/dev/null) != "$net" ]]; then
    rm -rf "$home/docker/data/network"
    echo "$net" >"$home/docker/bridge"
  fi
  # That none of ours runs is known; the number in the file may be another's now.
  rm -f "$home/dockerd.pid"
  # Of containerd dockerd believes the file, also when that process is a zombie.
  containerd=$(cat "$home/docker/exec/containerd/containerd.pid" 2>/dev/null || true)
  runs "${containerd:-none}" || rm -f "$home/docker/exec/containerd/containerd.pid"
  # A configuration of its own, so that the machine's does not count.
  echo "{\"runtimes\": $runtimes}" >"$home/daemon.json"
  launch docker dockerd --config-file "$home/daemon.json" --host "unix://$(socket docker)" \
    --group root --pidfile "$home/dockerd.pid" \
    --data-root "$home/docker/data" --exec-root "$home/docker/exec" --cgroup-parent "/$bridge" \
    --bridge "$bridge" --iptables=false --ip6tables=false \
    --default-address-pool "base=$net.128.0/17,size=24"
}

# podman_configuration DIR ROOT SUBNETS: what a Podman that keeps all it has in
# DIR, and its images and containers in ROOT, reads. crun refuses where cgroups are mounted in hybrid mode, so runc; limits
# cannot be raised everywhere, so soft and hard are equal.
podman_configuration() {
  local dir=$1 root=$2 subnets=$3 backend=
  if [[ $(podman --version) == *' '[34].* ]]; then backend='network_backend = "cni"'; fi
  cat >"$dir/containers.conf" <<CONF
[containers]
default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
static_dir = "$root/libpod"
tmp_dir = "$dir/tmp"
volume_path = "$root/volumes"
[engine.runtimes]
runsc = ["$(command -v runsc || echo /usr/bin/runsc)"]
[network]
$backend
network_config_dir = "$dir/networks"
default_subnet_pools = [{base = "$subnets", size = 24}]
CONF
  cat >"$dir/storage.conf" <<CONF
[storage]
driver = "overlay"
graphroot = "$root"
runroot = "$dir/run"
CONF
}

# podman_namespace is a mount namespace that sees the mounts of the machine and
# shows it none, with its own /dev/shm: the locks there are one set for all
# Podmans of a user. A script for bash -euc follows.
podman_namespace=(unshare --mount --propagation slave bash -euc
  'mount --make-rshared /; mount -t tmpfs -o mode=1777 podman /dev/shm; script=$1; shift; exec bash -euc "$script" "$@"' -)

start_podman() {
  local net=$1 dir=$home/podman
  drop_after_boot "$dir/tmp" "$dir/run" "$dir/addresses"
  rm -rf "$dir/files"
  mkdir -p "$dir"/{root,run,tmp,files,networks}
  podman_configuration "$dir" "$dir/root" "$net.96.0/19"
  cat >"$dir/networks/87-podman.conflist" <<CONF
{"cniVersion": "0.4.0", "name": "podman", "plugins": [
  {"type": "bridge", "bridge": "$podman_bridge", "isGateway": true, "ipMasq": false, "hairpinMode": true,
   "ipam": {"type": "host-local", "dataDir": "$dir/addresses", "routes": [{"dst": "0.0.0.0/0"}],
            "ranges": [[{"subnet": "$net.64.0/19", "gateway": "$net.64.1"}]]}},
  {"type": "portmap", "capabilities": {"portMappings": true}},
  {"type": "tuning"}]}
CONF
  launch podman "${podman_namespace[@]}" '
    export CONTAINERS_CONF=$1/containers.conf CONTAINERS_STORAGE_CONF=$1/storage.conf TMPDIR=$1/files
    exec podman system service --time 0 "$2"' - "$dir" "unix://$(socket podman)"
}

# rootless_possible: whether a user without rights can have what Podman needs;
# says why not. What can be mended is a failure.
rootless_possible() {
  if ! setpriv --reuid "$rootless_uid" --regid "$rootless_uid" --clear-groups unshare --user true 2>/dev/null; then
    say "rootless Podman: a user without rights may not make user namespaces here"
  elif [[ ! -e /dev/net/tun ]]; then
    say "rootless Podman: there is no /dev/net/tun for the network of its containers"
  elif [[ ! -u $(command -v newuidmap) ]]; then
    die "rootless Podman: newuidmap is not set-user-id; run chmod u+s $(command -v newuidmap), or install uidmap again"
  else
    return 0
  fi
  exit 4
}

# start_rootless: the user is known, has ids for its containers and may use the
# tun device in a mount namespace of its own only; the machine's files stay as
# they are.
start_rootless() {
  local dir=$home/rootless user=mcpws-rootless
  rootless_possible
  drop_after_boot "$dir/tmp" "$dir/run"
  rm -rf "$dir/files"
  mkdir -p "$dir"/{run,tmp,files,networks,home,etc}
  # Without rights the storage is below HOME, whatever its configuration says,
  # and the database must be in it: the clean-up of an ended container looks there.
  podman_configuration "$dir" "$dir/home/.local/share/containers/storage" "$1.96.0/19"
  { cat /etc/passwd; echo "$user:x:$rootless_uid:$rootless_uid::$dir/home:/bin/sh"; } >"$dir/etc/passwd"
  { cat /etc/group; echo "$user:x:$rootless_uid:"; } >"$dir/etc/group"
  echo "$user:$rootless_ids:65536" | tee "$dir/etc/subuid" >"$dir/etc/subgid"
  [[ -e $dir/etc/tun ]] || mknod -m 666 "$dir/etc/tun" c 10 200
  chown "$rootless_uid:$rootless_uid" "$dir" "$dir"/*
  touch -a /etc/subuid /etc/subgid
  launch rootless "${podman_namespace[@]}" '
    dir=$1 uid=$2 socket=$3
    for name in passwd group subuid subgid; do mount --bind "$dir/etc/$name" "/etc/$name"; done
    mount --bind "$dir/etc/tun" /dev/net/tun
    # The run root is below it and may have 50 characters; see lock.
    mount --bind "$dir/run" /mnt
    export HOME=$dir/home XDG_RUNTIME_DIR=/mnt TMPDIR=$dir/files
    export CONTAINERS_CONF=$dir/containers.conf CONTAINERS_STORAGE_CONF=$dir/storage.conf
    unset DBUS_SESSION_BUS_ADDRESS
    cd "$HOME"
    exec setpriv --reuid "$uid" --regid "$uid" --clear-groups \
      podman system service --time 0 "$socket"' - "$dir" "$rootless_uid" "unix://$(socket rootless)"
}

# --- images -----------------------------------------------------------------

codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
debian_packages=python3,git,ca-certificates,procps
version=$(printf '%s\n' "$codename" "$debian_packages" 1 | sha256sum | cut -c1-8)
image_name() { echo "localhost/mcpws-test/$1:$version"; }

# mirror: where this machine's apt gets Debian from.
mirror() {
  apt-get indextargets --format '$(SITE) $(CODENAME) $(COMPONENT)' 'Created-By: Packages' 'Label: Debian' |
    awk -v codename="$codename" '$2 == codename && $3 == "main" {print $1; exit}'
}

root_debian() { # TAR
  local site proxy= dir
  site=$(mirror)
  [[ -n $site ]] || die "apt's sources name no Debian $codename main; the Debian image cannot be made"
  eval "$(apt-config shell proxy Acquire::http::Proxy)"
  dir=$(mktemp -d "$cache/debootstrap.XXXXXX")
  say "making the Debian image (about 45 s, kept in $cache)"
  if ! http_proxy=${proxy:-${http_proxy:-}} debootstrap --variant=minbase \
    --include="$debian_packages" "$codename" "$dir" "$site" </dev/null >"$cache/debootstrap.log" 2>&1 8>&- 9>&-; then
    tail -n 20 "$cache/debootstrap.log" >&2
    rm -rf "$dir"
    die "debootstrap failed; its log is $cache/debootstrap.log"
  fi
  tar -C "$dir" -cf "$1" --exclude='./var/cache/apt/*' --exclude='./var/lib/apt/lists/*' \
    --exclude='./var/log/*' --exclude='./dev/*' .
  rm -rf "$dir"
}

root_busybox() { # TAR
  local dir applet
  dir=$(mktemp -d "$cache/busybox.XXXXXX")
  mkdir -p "$dir"/{bin,etc,tmp,root}
  cp "$(command -v busybox)" "$dir/bin/busybox"
  for applet in $(busybox --list); do
    [[ $applet == busybox ]] || ln -s busybox "$dir/bin/$applet"
  done
  chmod 755 "$dir"
  chmod 1777 "$dir/tmp"
  echo 'root:x:0:0:root:/root:/bin/sh' >"$dir/etc/passwd"
  echo 'root:x:0:' >"$dir/etc/group"
  tar -C "$dir" -cf "$1" --owner=0 --group=0 .
  rm -rf "$dir"
}

root_scratch() { tar -cf "$1" -T /dev/null; }

# root_tar NAME: the path of the image's root file system, made when missing.
# Other checkouts may want the same one at the same time.
root_tar() {
  local tar=$cache/$1-$version.tar
  if [[ ! -e $tar ]]; then
    exec 8>"$cache/lock"
    flock 8
    if [[ ! -e $tar ]]; then
      rm -rf "$cache"/debootstrap.?????? "$cache"/busybox.??????
      "root_$1" "$tar.new"
      mv "$tar.new" "$tar"
    fi
    exec 8>&-
  fi
  echo "$tar"
}

has_images() { # ENGINE
  local name names=()
  for name in $images; do names+=("$(image_name "$name")"); done
  on "$1" image inspect "${names[@]}" >/dev/null 2>&1
}

make_images() { # ENGINE
  local name tar
  for name in $images; do
    on "$1" image inspect "$(image_name "$name")" >/dev/null 2>&1 && continue
    tar=$(root_tar "$name")
    on "$1" import "$tar" "$(image_name "$name")" >/dev/null
  done
}

# --- commands ---------------------------------------------------------------

need_root() {
  [[ $(uname -s) == Linux ]] || die "container engines for the tests need Linux"
  [[ $(id -u) == 0 ]] || die "container engines for the tests need root"
}

lock() {
  local dir
  # Others may pass through, for the socket of rootless Podman, and not look.
  mkdir -p "$base" "$cache" "$home"
  for dir in "$base" "$cache" "$home"; do
    [[ -O $dir && ! -L $dir ]] || die "$dir belongs to someone else; remove it or set TEST_ENGINES_DIR and TEST_ENGINES_CACHE"
    chmod 711 "$dir"
  done
  # Podman refuses a run root of more than 50 characters, and only when a
  # container has ended: its exit is then noticed 20 s late.
  local longest=80
  if uses podman; then longest=39; fi
  ((${#home} <= longest)) || die "$home has more than $longest characters; set TEST_ENGINES_DIR to a shorter path"
  exec 9>"$home/lock"
  flock 9
}

report() {
  local engine name
  for engine in $engines; do echo "$engine=unix://$(socket "$engine")"; done
  for name in $images; do echo "$name=$(image_name "$name")"; done
}

start() {
  local engine net
  need_root
  install
  lock
  for engine in $engines; do
    daemon "$engine" >/dev/null && continue
    net=$(network_up)
    "start_$engine" "$net"
  done
  for engine in $engines; do
    # One question answers both where all is there.
    has_images "$engine" && continue
    await "$engine"
    make_images "$engine"
  done
  report
}

status() {
  local engine
  for engine in $engines; do
    if ! daemon "$engine" >/dev/null || ! has_images "$engine"; then
      say "$engine of $home does not run, or has not all images"
      exit 3
    fi
  done
  report
}

stop() {
  local engine pid ids
  [[ -d $home ]] || return 0
  need_root
  lock
  for engine in docker podman rootless; do
    if pid=$(daemon "$engine"); then
      if answers "$engine"; then
        mapfile -t ids < <(on "$engine" ps -aq)
        ((${#ids[@]} == 0)) || on "$engine" rm -fv "${ids[@]}" >/dev/null || say "not all containers of $engine could be removed"
        mapfile -t ids < <(on "$engine" volume ls -q)
        ((${#ids[@]} == 0)) || on "$engine" volume rm -f "${ids[@]}" >/dev/null || say "not all volumes of $engine could be removed"
      fi
      kill -TERM "$pid"
      wait_gone "$pid" || true
    fi
    end_leftovers "$engine"
    rm -f "$home/$engine.pid" "$(socket "$engine")"
  done
  network_down
  # Empty groups that dockerd leaves.
  find /sys/fs/cgroup -depth -type d -path "*/$bridge*" -exec rmdir {} + 2>/dev/null || true
}

clean() {
  stop
  # The lock goes too; whoever waits for it starts over in a new directory.
  rm -rf --one-file-system "$home"
}

case ${1:-} in
  install) need_root; install ;;
  start | status | stop | clean) "$1" ;;
  *) echo "usage: scripts/test-engines.sh install|start|status|stop|clean" >&2; exit 2 ;;
esac
