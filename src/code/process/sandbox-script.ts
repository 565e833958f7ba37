// The shell scripts that build a sandbox and look after the code in it. They run as the first process of a process
// namespace: ending everything else there is safe, and nothing outlives them.

const FIRST = `set -eu
[ $$ = 1 ] || { echo 'this is not the first process of a namespace' >&2; exit 125; }
`

/**
 * Builds the file system the code sees, in a shell that may mount: root of a new user namespace, or root itself.
 * Arguments: where to build, options of the file system that can be written to, the user to become or nothing, limits,
 * then `hide dev/null at`, `hide empty at`, `bind from at` and `link to at` as often as needed, and `--`.
 *
 * Each thing that is run afterwards is confined: in a user namespace of its own where it is nobody in particular, that
 * can make no further ones, without capabilities and without a way to get any.
 */
export const BUILD: string = `${FIRST}
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
  echo "$root/$2 $root$3 none bind,ro,nosuid,nodev" # nodev: a file that is hidden cannot be opened
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

/** For a shell that was started in a finished sandbox. */
export const BUILT: string = `${FIRST}
echo 1000 > /proc/self/oom_score_adj || :
confined() { "$@"; }
`

/**
 * Unpacks what is on stdin, runs the code, ends all it left running and sends its files, as a tar archive on descriptor
 * 4. The shell may be in the hands of code of its own user, so what it sends is believed as little as what code prints.
 * Arguments: what to send before the code starts, what to send before its files, the file it gets on stdin, its command.
 */
export const LOOK_AFTER: string = `
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
