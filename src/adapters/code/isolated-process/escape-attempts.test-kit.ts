// Attempts to escape from an isolated process. Each prints ESCAPED when it succeeds, and "tried" at the end, so that an
// attempt that never ran is not mistaken for one that failed.

/** What the attempts try to reach on the host. */
export interface AttackTarget {
  /** A file with a secret that every user can read and write. */
  readonly file: string
  /** The folder of that file, which every user can write to. */
  readonly folder: string
  /** The working directory of the host. */
  readonly project: string
  /** TCP port on loopback of a server that sends the secret. */
  readonly port: number
  /** UDP port on loopback of a server that sends the secret. */
  readonly udpPort: number
  /** Path of a Unix socket whose server sends the secret. */
  readonly socket: string
  /** Name of an abstract socket whose server sends the secret. */
  readonly abstractSocket: string
  /** Process id of a process of the host. */
  readonly pid: number
}

/** One attempt to escape. */
interface EscapeAttempt {
  /** What the code tries to do, as in "stops code that tries to <name>". */
  readonly name: string
  /** The language of the code. */
  readonly language: 'python' | 'bash' | 'javascript'
  /** The code, for a target. */
  code(target: AttackTarget): string
  /** The attempt succeeds without isolation. A test proves it. */
  readonly worksUnisolated?: true
}

const attempt =
  (language: EscapeAttempt['language'], worksUnisolated?: true) =>
  (name: string, code: (target: AttackTarget) => string): EscapeAttempt => ({
    name,
    language,
    code:
      language === 'python'
        ? (target) => `${python}\n${code(target)}\nprint("tried")\n`
        : (target) => `${code(target)}\n${language === 'bash' ? 'echo tried' : 'console.log("tried")'}\n`,
    ...(worksUnisolated && { worksUnisolated }),
  })

/** `attempt` catches every error, so that one failed step does not prevent the next. */
const python = `import ctypes, os, socket, subprocess, sys
libc = ctypes.CDLL(None, use_errno=True)
def attempt(what):
    try:
        if what(): print("ESCAPED")
    except (Exception, SystemExit) as error:
        print("refused:", type(error).__name__)
def connects(family, kind, address, say=b""):
    with socket.socket(family, kind) as s:
        s.settimeout(2)
        s.connect(address)
        if say: s.send(say)
        return b"secret" in s.recv(100)
`
const inPython = attempt('python')
const inPythonProven = attempt('python', true)
const inBash = attempt('bash')
const inBashProven = attempt('bash', true)
const inNodeProven = attempt('javascript', true)
const inNode = attempt('javascript')

const files: readonly EscapeAttempt[] = [
  inPythonProven('read a file of the host', ({ file }) => `attempt(lambda: "secret" in open("${file}").read())`),
  inPythonProven(
    'read a file through ../..',
    ({ file }) => `attempt(lambda: "secret" in open("../../../../../../..${file}").read())`,
  ),
  inPythonProven(
    'read a file through /proc/self/root',
    ({ file }) => `attempt(lambda: "secret" in open("/proc/self/root${file}").read())`,
  ),
  inPython(
    'read a file through /proc/1/root',
    ({ file }) => `attempt(lambda: "secret" in open("/proc/1/root${file}").read())`,
  ),
  inPython(
    'read a file through /proc/1/cwd',
    ({ file }) => `attempt(lambda: "secret" in open("/proc/1/cwd/../../../..${file}").read())`,
  ),
  inBashProven(
    'read a file through a symbolic link',
    ({ file }) => `ln -s ${file} link && grep -q secret link && echo ESCAPED`,
  ),
  inPythonProven(
    'create a hard link to a file of the host',
    ({ file, folder }) => `attempt(lambda: [os.link("${file}", "${folder}/hard"), os.unlink("${folder}/hard")])`,
  ),
  inBashProven(
    'find a file by name near its folder',
    ({ file, folder }) =>
      `find ${folder}/.. -maxdepth 2 -name $(basename ${file}) 2>/dev/null | grep -q . && echo ESCAPED`,
  ),
  inBash(
    'find a file by name anywhere',
    ({ file }) =>
      `find / \\( -path /usr -o -path /proc \\) -prune -o -name $(basename ${file}) -print 2>/dev/null | grep -q . && echo ESCAPED`,
  ),
  inPythonProven('list the project folder', ({ project }) => `attempt(lambda: os.listdir("${project}"))`),
  inNodeProven(
    'read a file with Node',
    ({ file }) => `const { readFileSync } = await import('node:fs')
try { if (readFileSync('${file}', 'utf8').includes('secret')) console.log('ESCAPED') } catch {}`,
  ),
  inPython(
    'leave its root with chroot',
    ({ file }) => `def leave():
    os.mkdir("jail"); os.chroot("jail")
    for _ in range(50): os.chdir("..")
    os.chroot(".")
    return "secret" in open("${file}").read()
attempt(leave)`,
  ),
  inPython(
    'open a file by handle',
    () =>
      `attempt(lambda: libc.open_by_handle_at(os.open("/usr", os.O_RDONLY), (ctypes.c_char * 24)(8, 0, 0, 0, 1, 0, 0, 0, 2), 0) >= 0)`,
  ),
  inPython(
    'enter the namespaces of process 1 with setns',
    () => `attempt(lambda: libc.setns(os.open("/proc/1/ns/mnt", os.O_RDONLY), 0) == 0)`,
  ),
  inBash(
    'enter the namespaces of process 1 with nsenter',
    ({ file }) => `nsenter --target 1 --all cat ${file} 2>/dev/null | grep -q secret && echo ESCAPED`,
  ),
  inBash(
    'mount a file system',
    () =>
      `mkdir m; mount -t tmpfs none m 2>/dev/null && echo ESCAPED; mount --bind /proc m 2>/dev/null && echo ESCAPED`,
  ),
  inBash(
    'remount a read-only path writable',
    () =>
      `mount -o remount,rw /usr 2>/dev/null && echo ESCAPED; mount -o remount,rw / 2>/dev/null && echo ESCAPED; umount -l /usr 2>/dev/null && echo ESCAPED`,
  ),
  inBash(
    'create a device node',
    () => `mknod disk b 8 0 2>/dev/null && echo ESCAPED; mknod mem c 1 1 2>/dev/null && echo ESCAPED`,
  ),
  inBash(
    'become root in a user namespace with unshare',
    () =>
      `unshare --user --map-root-user true 2>/dev/null && echo ESCAPED; unshare --user --mount true 2>/dev/null && echo ESCAPED`,
  ),
  inBash(
    'read machine details in /proc',
    () =>
      `for path in cmdline version config.gz kallsyms keys key-users modules partitions diskstats swaps interrupts iomem ioports devices misc crypto filesystems locks vmstat zoneinfo consoles sys/kernel/random/boot_id sys/kernel/core_pattern; do test -n "$(head -c 1 /proc/$path 2>/dev/null | tr '\\0' x)" && echo "ESCAPED $path"; done
for path in acpi bus driver fs irq tty pressure sys/dev sys/fs/binfmt_misc; do test -n "$(ls -A /proc/$path 2>/dev/null)" && echo "ESCAPED $path"; done`,
  ),
  inBash(
    'read the host name of the machine',
    () => `test "$(uname -n) $(cat /proc/sys/kernel/hostname)" = 'sandbox sandbox' || echo ESCAPED`,
  ),
  inPython('create a user namespace with a system call', () => `attempt(lambda: libc.unshare(0x10000000) == 0)`),
  inBash(
    'read the users and the id of the machine',
    () =>
      `grep -q ^root: /etc/passwd && echo ESCAPED; cat /etc/shadow 2>/dev/null && echo ESCAPED; cat /etc/hostname /etc/machine-id 2>/dev/null && echo ESCAPED`,
  ),
  inBash(
    'list /root, /home, /var and other folders',
    () =>
      `for folder in /root /home /var /run /sys /boot /mnt /media /srv /opt; do test -n "$(ls -A $folder 2>/dev/null)" && [ $folder != /opt ] && echo "ESCAPED $folder"; done`,
  ),
  inBash(
    'find the socket of a container engine',
    () =>
      `for socket in /var/run/docker.sock /run/docker.sock /run/containerd/containerd.sock; do test -e $socket && echo ESCAPED; done`,
  ),
  inBash(
    'find further devices in /dev',
    () =>
      `for device in /dev/*; do case $device in /dev/null|/dev/zero|/dev/full|/dev/random|/dev/urandom|/dev/fd|/dev/shm) ;; *) echo "ESCAPED $device" ;; esac; done`,
  ),
]

const writes: readonly EscapeAttempt[] = [
  inPythonProven(
    'write to a file of the host',
    ({ file }) => `attempt(lambda: open("${file}", "a").write(""))
attempt(lambda: os.access("${file}", os.W_OK))`,
  ),
  inPythonProven(
    'create a file in a folder of the host',
    ({ folder }) => `attempt(lambda: [open("${folder}/made", "w").close(), os.unlink("${folder}/made")])`,
  ),
  inBash(
    'write to system folders',
    () =>
      `for path in /usr/evil /usr/bin/evil /etc/evil /evil /dev/evil /lib/evil /etc/ld.so.cache; do (echo x >> $path) 2>/dev/null && echo "ESCAPED $path"; done`,
  ),
  inBash(
    'change or remove system files',
    () =>
      `for path in /usr/bin/env /usr /etc; do chmod 777 $path 2>/dev/null && echo "ESCAPED $path"; rm -rf $path/env 2>/dev/null; done; test -e /usr/bin/env || echo ESCAPED`,
  ),
  inBash(
    'change kernel settings',
    () =>
      `for knob in /proc/sys/kernel/core_pattern /proc/sys/kernel/hostname /proc/sys/vm/drop_caches /proc/sys/kernel/modprobe /proc/sys/user/max_user_namespaces; do (cat $knob > $knob) 2>/dev/null && echo "ESCAPED $knob"; done; hostname evil 2>/dev/null && echo ESCAPED`,
  ),
  inBash('write to /proc/sysrq-trigger', () => `(echo h > /proc/sysrq-trigger) 2>/dev/null && echo ESCAPED`),
]

const privileges: readonly EscapeAttempt[] = [
  inPython(
    'become root',
    () => `attempt(lambda: os.setuid(0) is None)
attempt(lambda: os.setgid(0) is None)
attempt(lambda: os.setgroups([0]) is None)
attempt(lambda: os.setresuid(0, 0, 0) is None)`,
  ),
  inPython(
    'keep or gain capabilities',
    () => `status = open("/proc/self/status").read()
attempt(lambda: any(line.startswith("Cap") and int(line.split()[1], 16) for line in status.splitlines()))
attempt(lambda: "NoNewPrivs:\\t1" not in status)`,
  ),
  inBash(
    'run a setuid program',
    () =>
      `su -c id 2>/dev/null < /dev/null && echo ESCAPED; sudo -n id 2>/dev/null && echo ESCAPED; find /usr/bin -perm -4000 -exec sh -c 'cp {} ./copy && ./copy --version' \\; >/dev/null 2>&1; test "$(id -u)" = 1000 || echo ESCAPED`,
  ),
  inPython(
    'raise its resource limits',
    () => `import resource
for kind in (resource.RLIMIT_AS, resource.RLIMIT_NPROC, resource.RLIMIT_FSIZE, resource.RLIMIT_CPU, resource.RLIMIT_NOFILE):
    attempt(lambda: resource.setrlimit(kind, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)) is None)`,
  ),
  inPython(
    'load a kernel module or a BPF program',
    () => `attempt(lambda: libc.syscall(313, 0, b"", 0) == 0)
attempt(lambda: libc.syscall(321, 0, ctypes.byref((ctypes.c_char * 64)()), 64) >= 0)`,
  ),
  inPython(
    'type into the terminal of the host',
    () => `import fcntl, termios
attempt(lambda: fcntl.ioctl(os.open("/dev/tty", os.O_RDWR), termios.TIOCSTI, b"x") == 0)
attempt(lambda: fcntl.ioctl(1, termios.TIOCSTI, b"x") == 0)`,
  ),
]

const processes: readonly EscapeAttempt[] = [
  inPythonProven(
    'see a process of the host',
    ({ pid }) => `attempt(lambda: os.kill(${pid}, 0) is None)
attempt(lambda: os.path.exists("/proc/${pid}/cmdline") and "sleep" in open("/proc/${pid}/cmdline").read())`,
  ),
  inPython(
    'kill a process of the host',
    ({ pid }) => `import signal
for number in (${pid}, -${pid}):
    attempt(lambda: os.kill(number, signal.SIGKILL) is None)`,
  ),
  inPython(
    'read the memory of a process of the host',
    ({ pid }) => `attempt(lambda: os.open("/proc/${pid}/mem", os.O_RDWR) >= 0)
attempt(lambda: libc.ptrace(16, ${pid}, 0, 0) == 0)
import errno
class Iovec(ctypes.Structure): _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
local, remote = Iovec(ctypes.addressof(ctypes.create_string_buffer(8)), 8), Iovec(4096, 8)
libc.process_vm_readv(${pid}, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0)
attempt(lambda: ctypes.get_errno() in (0, errno.EFAULT))`,
  ),
  inPython(
    'read a file after opening /proc/self/mem',
    ({ file }) => `memory = open("/proc/self/mem", "r+b", buffering=0)
attempt(lambda: "secret" in open("${file}").read())`,
  ),
  inPythonProven(
    'read the environment of any process',
    () => `def environments():
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            if b"TOOLWRIGHT_CANARY" in open(f"/proc/{number}/environ", "rb").read(): return True
        except OSError: pass
attempt(environments)`,
  ),
  inBash(
    'find variables of the host in its environment',
    () =>
      `env | grep -q CANARY && echo ESCAPED; env | grep -q LD_PRELOAD && echo ESCAPED; tr '\\0' '\\n' < /proc/1/environ 2>/dev/null | grep -q CANARY && echo ESCAPED`,
  ),
  inNode(
    'find variables of the host in Node',
    () => `if (JSON.stringify([process.env, process.report?.getReport?.()]).includes('canary')) console.log('ESCAPED')`,
  ),
  inNode(
    'reach internal bindings of Node or spawn a program that reads a file',
    ({ file }) => `for (const name of ['fs', 'process_wrap', 'spawn_sync']) { try { process.binding(name) } catch {} }
try { const { spawnSync } = await import('node:child_process'); if (String(spawnSync('cat', ['${file}']).stdout).includes('secret')) console.log('ESCAPED') } catch {}`,
  ),
  inPython(
    'see more processes than its own',
    () => `attempt(lambda: len(list(filter(str.isdigit, os.listdir("/proc")))) > 10)`,
  ),
]

const network: readonly EscapeAttempt[] = [
  inPythonProven(
    'connect to the host over TCP',
    ({ port }) => `attempt(lambda: connects(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", ${port})))`,
  ),
  inPythonProven(
    'send UDP to the host',
    ({ udpPort }) =>
      `attempt(lambda: connects(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", ${udpPort}), b"hello"))`,
  ),
  inPythonProven(
    'connect to a Unix socket of the host',
    ({ socket }) => `attempt(lambda: connects(socket.AF_UNIX, socket.SOCK_STREAM, "${socket}"))`,
  ),
  inPythonProven(
    'connect to an abstract socket of the host',
    ({ abstractSocket }) => `attempt(lambda: connects(socket.AF_UNIX, socket.SOCK_STREAM, "\\0${abstractSocket}"))`,
  ),
  inNodeProven(
    'connect to the host with Node',
    ({ port }) => `const { connect } = await import('node:net')
await new Promise((resolve) => connect(${port}, '127.0.0.1').on('data', (data) => { if (String(data).includes('secret')) console.log('ESCAPED') }).on('error', resolve).on('close', resolve))`,
  ),
  inPython(
    'connect to the host over IPv6',
    ({ port }) => `attempt(lambda: connects(socket.AF_INET6, socket.SOCK_STREAM, ("::1", ${port})))
attempt(lambda: connects(socket.AF_INET6, socket.SOCK_STREAM, ("::ffff:127.0.0.1", ${port})))`,
  ),
  // Connecting a datagram socket only looks up a route and sends nothing. If one of these succeeds, no packet has left
  // the machine.
  inPython(
    'find a route to the metadata server, private networks or the internet',
    () => `for address in ("169.254.169.254", "10.0.0.1", "172.17.0.1", "192.168.0.1", "8.8.8.8"):
    attempt(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect((address, 53)) is None)
attempt(lambda: socket.socket(socket.AF_INET6, socket.SOCK_DGRAM).connect(("2001:4860:4860::8888", 53)) is None)`,
  ),
  inPython(
    'open an ICMP socket',
    () => `attempt(lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP))
attempt(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP).connect(("8.8.8.8", 0)) is None)`,
  ),
  inPython('find a name server', () => `attempt(lambda: "nameserver" in open("/etc/resolv.conf").read())`),
  inPython('open a packet socket', () => `attempt(lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 3))`),
  inBash(
    'find a network interface or a route',
    () =>
      `grep -v lo: /proc/net/dev | grep -q : && echo ESCAPED; test "$(wc -l < /proc/net/route)" -gt 1 && echo ESCAPED`,
  ),
]

/** Attempts that namespaces do not stop. The system call filter does. */
export const systemCallAttempts: readonly EscapeAttempt[] = [
  inPython(
    'read keys of the kernel key ring',
    () => `number = {"x86_64": 250, "aarch64": 219}[os.uname().machine]
attempt(lambda: libc.syscall(number, 0, -3, 1, 0, 0) >= 0)`,
  ),
  inPython('open a VM socket to the hypervisor', () => `attempt(lambda: socket.socket(40, socket.SOCK_STREAM))`),
  inPython(
    'use io_uring, the crypto API or pidfd_getfd',
    () => `attempt(lambda: libc.syscall(425, 8, ctypes.create_string_buffer(200)) >= 0)
attempt(lambda: socket.socket(38, socket.SOCK_SEQPACKET))
attempt(lambda: libc.syscall(438, libc.syscall(434, 1, 0), 1, 0) >= 0)`,
  ),
  inPython(
    'hold memory that no limit counts',
    () => `attempt(lambda: os.memfd_create("memory") >= 0)
attempt(lambda: libc.shmget(0, 1_000_000, 0o1600) >= 0)
attempt(lambda: libc.msgget(0, 0o1600) >= 0)`,
  ),
  inPython('trace the supervising process', () => `attempt(lambda: libc.ptrace(16, 1, 0, 0) == 0)`),
]

/** Attempts that namespaces, mounts and limits stop. */
export const escapeAttempts: readonly EscapeAttempt[] = [...files, ...writes, ...privileges, ...processes, ...network]
