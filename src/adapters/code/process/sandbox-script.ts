// The shell scripts that build a sandbox and supervise the code in it. They run as the first process (pid 1) of a process
// namespace. Therefore they can kill every other process they see, and the kernel kills whatever is left when they end.

/** Refuses to run outside a process namespace, where `kill -1` would end the processes of the host. */
const CHECK_FIRST_PROCESS = `set -eu
[ $$ = 1 ] || { echo 'the sandbox script is not the first process of a process namespace' >&2; exit 125; }
`

/**
 * Builds the file system that the code sees. Needs a shell that may mount: root, or root of a new user namespace.
 *
 * Arguments: the folder to build in; mount options of the writable file system; the user id to switch to, or nothing;
 * arguments for `prlimit`; then any number of `hide dev/null at`, `hide empty at`, `bind from at`, `link to at`; then `--`.
 *
 * Threats and steps:
 * - Reading or changing host files: a new root that holds only the listed paths, all read-only, without setuid and
 *   devices. `pivot_root` and `umount` remove the old root, so `chroot` tricks lead nowhere.
 * - Learning about the machine from /proc: the `hide` entries cover those files.
 * - Gaining privileges: `confined` runs each later program in a user namespace of its own, as user 1000, without
 *   capabilities and with `no-new-privs`. `max_user_namespaces` 0 forbids a further user namespace.
 * - Exhausting memory: `oom_score_adj` 1000 lets the kernel kill the sandbox before a process of the host.
 *
 * Tests: isolated-process-escape.test.ts and isolated-process-limits.test.ts.
 */
export const BUILD_SANDBOX: string = `${CHECK_FIRST_PROCESS}
path=$PATH
PATH=/usr/sbin:/usr/bin:/sbin:/bin
root=$1 disk=$2 user=$3 limits=$4
shift 4
hostname sandbox 2> /dev/null || echo sandbox 2> /dev/null > /proc/sys/kernel/hostname || :
before=' '
while read -r id _; do before="$before$id "; done < /proc/self/mountinfo
mount -t tmpfs -o mode=755,size=2m,nr_inodes=10k,nosuid,nodev tmpfs "$root"
mkdir "$root/proc" "$root/dev" "$root/etc" "$root/tmp" "$root/old" "$root/empty"
mount -t tmpfs -o "mode=1777,nosuid,nodev,$disk" tmpfs "$root/tmp"
mount -t proc -o nosuid,nodev,noexec proc "$root/proc"
for device in null zero full random urandom; do
  : > "$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
ln -s /proc/self/fd "$root/dev/fd"
ln -s /tmp/shm "$root/dev/shm"
while [ "$1" = hide ]; do
  echo "$root/$2 $root$3 none bind,ro,nosuid,nodev" # nodev: the hidden file cannot be opened
  shift 3
done > "$root/hidden"
mount -a -T "$root/hidden"
rm "$root/hidden"
rmdir "$root/empty"
while [ "$1" != -- ]; do
  [ -d "$root\${3%/*}" ] || mkdir -p "$root\${3%/*}"
  case $1 in
    link) ln -s "$2" "$root$3" ;;
    bind)
      if [ ! -d "$2" ]; then : >> "$root$3"; elif [ ! -d "$root$3" ]; then mkdir "$root$3"; fi
      mount --rbind "$2" "$root$3"
      ;;
  esac
  shift 3
done
shift
after=
while read -r mounted; do after="$after$mounted
"; done < /proc/self/mountinfo
while read -r id _ _ _ at options _; do
  [ -n "$id" ] || continue
  case $before in *" $id "*) continue ;; esac
  case $at in
    "$root" | "$root/proc" | "$root/proc/"* | "$root/dev/"* | "$root/tmp") continue ;;
  esac
  case ,$options, in *,noexec,*) more=,noexec ;; *) more= ;; esac
  mount -o "remount,bind,ro,nosuid,nodev$more" "$(printf %b "$at")"
done << END
$after
END
cd "$root"
pivot_root . old
umount -l /old
rmdir /old
mount -o remount,bind,ro,nosuid,nodev /
echo 1000 > /proc/self/oom_score_adj
PATH=$path
enter='limits=$1; shift; echo 0 > /proc/sys/user/max_user_namespaces &&
exec setpriv --bounding-set=-all --inh-caps=-all --ambient-caps=-all --no-new-privs -- prlimit $limits -- "$@"'
confined() {
  set -- unshare --user --map-user=1000 --map-group=1000 --keep-caps -- sh -c "$enter" sh "$limits" "$@"
  if [ -n "$user" ]; then set -- setpriv "--reuid=$user" "--regid=$user" --clear-groups -- "$@"; fi
  "$@"
}
`

/** The beginning of the script when bubblewrap or a container engine has already built the sandbox. */
export const ENTER_BUILT_SANDBOX: string = `${CHECK_FIRST_PROCESS}
echo 1000 > /proc/self/oom_score_adj || :
confined() { "$@"; }
`

/**
 * Unpacks the archive on stdin, runs the code, kills every process the code left, and writes the files of the code to
 * descriptor 4 as a tar archive.
 *
 * Arguments: the mark to write before the code starts; the mark to write before the files; the file to connect to stdin;
 * the command of the code.
 *
 * Under bubblewrap and Docker this shell has the same user as the code, so the code may take it over. Therefore the host
 * trusts the archive no more than the output of the code: see files/tar.ts.
 */
export const SUPERVISE_CODE: string = `
started=$1 ended=$2 stdin=$3
shift 3
confined tar -xf - -C /tmp 4>&- 5>&- 6>&-
exec < /dev/null
cd /tmp/work
printf %s "$started" >&4
status=0
confined "$@" < "$stdin" 4>&- || status=$?
kill -KILL -1 2> /dev/null || :
cd /
printf %s "$ended" >&4
confined sh -c 'cd /tmp/work && find . -maxdepth 1 -type f -exec tar -cf - {} +' >&4 2> /dev/null 5>&- 6>&- || :
exit "$status"
`
