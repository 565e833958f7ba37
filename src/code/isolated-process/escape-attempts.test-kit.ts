// Ways code may try to get out of its process. Each prints ESCAPED when it got somewhere, and "tried" in the end, so that
// an attack that never ran is not taken for one that was fended off.

/** What there is on the machine to get at. */
export interface Target {
  /** A file with a secret in it, which can be read and written by everybody. */
  readonly file: string
  readonly folder: string
  /** What this process was started in. */
  readonly project: string
  /** A server on this machine's loopback that says the secret: over TCP, UDP, a socket file, an abstract socket. */
  readonly port: number
  readonly udpPort: number
  readonly socket: string
  readonly abstractSocket: string
  /** A process of this machine. */
  readonly pid: number
}

export interface Attack {
  readonly name: string
  readonly language: 'python' | 'bash' | 'javascript'
  code(target: Target): string
  /** Works when nothing isolates it: the attack itself is sound. */
  readonly worksUnisolated?: true
}

const attack =
  (language: Attack['language'], worksUnisolated?: true) =>
  (name: string, code: (target: Target) => string): Attack => ({
    name,
    language,
    code:
      language === 'python'
        ? (target) => `${python}\n${code(target)}\nprint("tried")\n`
        : (target) => `${code(target)}\n${language === 'bash' ? 'echo tried' : 'console.log("tried")'}\n`,
    ...(worksUnisolated && { worksUnisolated }),
  })

/** Each attempt is made by itself: the first that fails does not keep the next from being made. */
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
const inPython = attack('python')
const inPythonProven = attack('python', true)
const inBash = attack('bash')
const inBashProven = attack('bash', true)
const inNodeProven = attack('javascript', true)
const inNode = attack('javascript')

const files: readonly Attack[] = [
  inPythonProven('reads a file', ({ file }) => `attempt(lambda: "secret" in open("${file}").read())`),
  inPythonProven(
    'reads a file by going up',
    ({ file }) => `attempt(lambda: "secret" in open("../../../../../../..${file}").read())`,
  ),
  inPythonProven(
    'reads a file through its own root',
    ({ file }) => `attempt(lambda: "secret" in open("/proc/self/root${file}").read())`,
  ),
  inPython(
    'reads a file through the first process',
    ({ file }) => `attempt(lambda: "secret" in open("/proc/1/root${file}").read())`,
  ),
  inPython(
    'reads a file through the folder of the first process',
    ({ file }) => `attempt(lambda: "secret" in open("/proc/1/cwd/../../../..${file}").read())`,
  ),
  inBashProven(
    'reads a file through a link',
    ({ file }) => `ln -s ${file} link && grep -q secret link && echo ESCAPED`,
  ),
  inPythonProven(
    'links a file into its folder',
    ({ file, folder }) => `attempt(lambda: [os.link("${file}", "${folder}/hard"), os.unlink("${folder}/hard")])`,
  ),
  inBashProven(
    'finds a file by its name',
    ({ file, folder }) =>
      `find ${folder}/.. -maxdepth 2 -name $(basename ${file}) 2>/dev/null | grep -q . && echo ESCAPED`,
  ),
  inBash(
    'finds a file by its name, anywhere',
    ({ file }) =>
      `find / \\( -path /usr -o -path /proc \\) -prune -o -name $(basename ${file}) -print 2>/dev/null | grep -q . && echo ESCAPED`,
  ),
  inPythonProven('reads the project', ({ project }) => `attempt(lambda: os.listdir("${project}"))`),
  inNodeProven(
    'reads a file in Node',
    ({ file }) => `const { readFileSync } = await import('node:fs')
try { if (readFileSync('${file}', 'utf8').includes('secret')) console.log('ESCAPED') } catch {}`,
  ),
  inPython(
    'leaves its root the old way',
    ({ file }) => `def leave():
    os.mkdir("jail"); os.chroot("jail")
    for _ in range(50): os.chdir("..")
    os.chroot(".")
    return "secret" in open("${file}").read()
attempt(leave)`,
  ),
  inPython(
    'opens a file by its handle',
    () =>
      `attempt(lambda: libc.open_by_handle_at(os.open("/usr", os.O_RDONLY), (ctypes.c_char * 24)(8, 0, 0, 0, 1, 0, 0, 0, 2), 0) >= 0)`,
  ),
  inPython(
    'enters the namespaces of the first process',
    () => `attempt(lambda: libc.setns(os.open("/proc/1/ns/mnt", os.O_RDONLY), 0) == 0)`,
  ),
  inBash(
    'enters the namespaces with a tool',
    ({ file }) => `nsenter --target 1 --all cat ${file} 2>/dev/null | grep -q secret && echo ESCAPED`,
  ),
  inBash(
    'mounts something',
    () =>
      `mkdir m; mount -t tmpfs none m 2>/dev/null && echo ESCAPED; mount --bind /proc m 2>/dev/null && echo ESCAPED`,
  ),
  inBash(
    'makes what is shown writable',
    () =>
      `mount -o remount,rw /usr 2>/dev/null && echo ESCAPED; mount -o remount,rw / 2>/dev/null && echo ESCAPED; umount -l /usr 2>/dev/null && echo ESCAPED`,
  ),
  inBash(
    'makes a disk of the machine',
    () => `mknod disk b 8 0 2>/dev/null && echo ESCAPED; mknod mem c 1 1 2>/dev/null && echo ESCAPED`,
  ),
  inBash(
    'makes a user namespace to be root in',
    () =>
      `unshare --user --map-root-user true 2>/dev/null && echo ESCAPED; unshare --user --mount true 2>/dev/null && echo ESCAPED`,
  ),
  inBash(
    'learns how the machine was started and built',
    () =>
      `for path in cmdline version config.gz kallsyms keys key-users modules partitions diskstats swaps interrupts iomem ioports devices misc crypto filesystems locks vmstat zoneinfo consoles sys/kernel/random/boot_id sys/kernel/core_pattern; do test -n "$(head -c 1 /proc/$path 2>/dev/null | tr '\\0' x)" && echo "ESCAPED $path"; done
for path in acpi bus driver fs irq tty pressure sys/dev sys/fs/binfmt_misc; do test -n "$(ls -A /proc/$path 2>/dev/null)" && echo "ESCAPED $path"; done`,
  ),
  inBash(
    'learns the name of the machine',
    () => `test "$(uname -n) $(cat /proc/sys/kernel/hostname)" = 'sandbox sandbox' || echo ESCAPED`,
  ),
  inPython('makes a user namespace by itself', () => `attempt(lambda: libc.unshare(0x10000000) == 0)`),
  inBash(
    'reads who there is',
    () =>
      `grep -q ^root: /etc/passwd && echo ESCAPED; cat /etc/shadow 2>/dev/null && echo ESCAPED; cat /etc/hostname /etc/machine-id 2>/dev/null && echo ESCAPED`,
  ),
  inBash(
    'looks into folders of others',
    () =>
      `for folder in /root /home /var /run /sys /boot /mnt /media /srv /opt; do test -n "$(ls -A $folder 2>/dev/null)" && [ $folder != /opt ] && echo "ESCAPED $folder"; done`,
  ),
  inBash(
    'looks for a container engine',
    () =>
      `for socket in /var/run/docker.sock /run/docker.sock /run/containerd/containerd.sock; do test -e $socket && echo ESCAPED; done`,
  ),
  inBash(
    'looks for devices',
    () =>
      `for device in /dev/*; do case $device in /dev/null|/dev/zero|/dev/full|/dev/random|/dev/urandom|/dev/fd|/dev/shm) ;; *) echo "ESCAPED $device" ;; esac; done`,
  ),
]

const writes: readonly Attack[] = [
  inPythonProven(
    'writes to a file',
    ({ file }) => `attempt(lambda: open("${file}", "a").write(""))
attempt(lambda: os.access("${file}", os.W_OK))`,
  ),
  inPythonProven(
    'makes a file',
    ({ folder }) => `attempt(lambda: [open("${folder}/made", "w").close(), os.unlink("${folder}/made")])`,
  ),
  inBash(
    'writes to the system',
    () =>
      `for path in /usr/evil /usr/bin/evil /etc/evil /evil /dev/evil /lib/evil /etc/ld.so.cache; do (echo x >> $path) 2>/dev/null && echo "ESCAPED $path"; done`,
  ),
  inBash(
    'changes the system',
    () =>
      `for path in /usr/bin/env /usr /etc; do chmod 777 $path 2>/dev/null && echo "ESCAPED $path"; rm -rf $path/env 2>/dev/null; done; test -e /usr/bin/env || echo ESCAPED`,
  ),
  inBash(
    'turns knobs of the kernel',
    () =>
      `for knob in /proc/sys/kernel/core_pattern /proc/sys/kernel/hostname /proc/sys/vm/drop_caches /proc/sys/kernel/modprobe /proc/sys/user/max_user_namespaces; do (cat $knob > $knob) 2>/dev/null && echo "ESCAPED $knob"; done; hostname evil 2>/dev/null && echo ESCAPED`,
  ),
  inBash('asks the kernel for help', () => `(echo h > /proc/sysrq-trigger) 2>/dev/null && echo ESCAPED`),
]

const privileges: readonly Attack[] = [
  inPython(
    'becomes root',
    () => `attempt(lambda: os.setuid(0) is None)
attempt(lambda: os.setgid(0) is None)
attempt(lambda: os.setgroups([0]) is None)
attempt(lambda: os.setresuid(0, 0, 0) is None)`,
  ),
  inPython(
    'has capabilities, or can get new ones',
    () => `status = open("/proc/self/status").read()
attempt(lambda: any(line.startswith("Cap") and int(line.split()[1], 16) for line in status.splitlines()))
attempt(lambda: "NoNewPrivs:\\t1" not in status)`,
  ),
  inBash(
    'runs a program that makes root',
    () =>
      `su -c id 2>/dev/null < /dev/null && echo ESCAPED; sudo -n id 2>/dev/null && echo ESCAPED; find /usr/bin -perm -4000 -exec sh -c 'cp {} ./copy && ./copy --version' \\; >/dev/null 2>&1; test "$(id -u)" = 1000 || echo ESCAPED`,
  ),
  inPython(
    'raises its limits',
    () => `import resource
for kind in (resource.RLIMIT_AS, resource.RLIMIT_NPROC, resource.RLIMIT_FSIZE, resource.RLIMIT_CPU, resource.RLIMIT_NOFILE):
    attempt(lambda: resource.setrlimit(kind, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)) is None)`,
  ),
  inPython(
    'loads a module into the kernel',
    () => `attempt(lambda: libc.syscall(313, 0, b"", 0) == 0)
attempt(lambda: libc.syscall(321, 0, ctypes.byref((ctypes.c_char * 64)()), 64) >= 0)`,
  ),
  inPython(
    'types into a terminal',
    () => `import fcntl, termios
attempt(lambda: fcntl.ioctl(os.open("/dev/tty", os.O_RDWR), termios.TIOCSTI, b"x") == 0)
attempt(lambda: fcntl.ioctl(1, termios.TIOCSTI, b"x") == 0)`,
  ),
]

const processes: readonly Attack[] = [
  inPythonProven(
    'sees another process',
    ({ pid }) => `attempt(lambda: os.kill(${pid}, 0) is None)
attempt(lambda: os.path.exists("/proc/${pid}/cmdline") and "sleep" in open("/proc/${pid}/cmdline").read())`,
  ),
  inPython(
    'kills what it can',
    ({ pid }) => `import signal
for number in (${pid}, -${pid}):
    attempt(lambda: os.kill(number, signal.SIGKILL) is None)`,
  ),
  inPython(
    'reads the memory of another process',
    ({ pid }) => `attempt(lambda: os.open("/proc/${pid}/mem", os.O_RDWR) >= 0)
attempt(lambda: libc.ptrace(16, ${pid}, 0, 0) == 0)
import errno
class Iovec(ctypes.Structure): _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
local, remote = Iovec(ctypes.addressof(ctypes.create_string_buffer(8)), 8), Iovec(4096, 8)
libc.process_vm_readv(${pid}, ctypes.byref(local), 1, ctypes.byref(remote), 1, 0)
attempt(lambda: ctypes.get_errno() in (0, errno.EFAULT))`,
  ),
  inPython(
    'writes through its own memory',
    ({ file }) => `memory = open("/proc/self/mem", "r+b", buffering=0)
attempt(lambda: "secret" in open("${file}").read())`,
  ),
  inPythonProven(
    'reads environments',
    () => `def environments():
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            if b"TOOLWRIGHT_CANARY" in open(f"/proc/{number}/environ", "rb").read(): return True
        except OSError: pass
attempt(environments)`,
  ),
  inBash(
    'reads its own environment',
    () =>
      `env | grep -q CANARY && echo ESCAPED; env | grep -q LD_PRELOAD && echo ESCAPED; tr '\\0' '\\n' < /proc/1/environ 2>/dev/null | grep -q CANARY && echo ESCAPED`,
  ),
  inNode(
    'reads the environment in Node',
    () => `if (JSON.stringify([process.env, process.report?.getReport?.()]).includes('canary')) console.log('ESCAPED')`,
  ),
  inNode(
    'asks Node for its own insides',
    ({ file }) => `for (const name of ['fs', 'process_wrap', 'spawn_sync']) { try { process.binding(name) } catch {} }
try { const { spawnSync } = await import('node:child_process'); if (String(spawnSync('cat', ['${file}']).stdout).includes('secret')) console.log('ESCAPED') } catch {}`,
  ),
  inPython(
    'counts the processes there are',
    () => `attempt(lambda: len(list(filter(str.isdigit, os.listdir("/proc")))) > 10)`,
  ),
]

const network: readonly Attack[] = [
  inPythonProven(
    'speaks TCP to the machine',
    ({ port }) => `attempt(lambda: connects(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", ${port})))`,
  ),
  inPythonProven(
    'speaks UDP to the machine',
    ({ udpPort }) =>
      `attempt(lambda: connects(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", ${udpPort}), b"hello"))`,
  ),
  inPythonProven(
    'speaks to a socket file',
    ({ socket }) => `attempt(lambda: connects(socket.AF_UNIX, socket.SOCK_STREAM, "${socket}"))`,
  ),
  inPythonProven(
    'speaks to an abstract socket',
    ({ abstractSocket }) => `attempt(lambda: connects(socket.AF_UNIX, socket.SOCK_STREAM, "\\0${abstractSocket}"))`,
  ),
  inNodeProven(
    'speaks HTTP to the machine',
    ({ port }) => `const { connect } = await import('node:net')
await new Promise((resolve) => connect(${port}, '127.0.0.1').on('data', (data) => { if (String(data).includes('secret')) console.log('ESCAPED') }).on('error', resolve).on('close', resolve))`,
  ),
  inPython(
    'speaks IPv6 to the machine',
    ({ port }) => `attempt(lambda: connects(socket.AF_INET6, socket.SOCK_STREAM, ("::1", ${port})))
attempt(lambda: connects(socket.AF_INET6, socket.SOCK_STREAM, ("::ffff:127.0.0.1", ${port})))`,
  ),
  // Connecting a datagram socket sends nothing, and says whether there is a way: should one of these succeed, nothing
  // has left the machine.
  inPython(
    'finds a way to the metadata server, the network around, the world',
    () => `for address in ("169.254.169.254", "10.0.0.1", "172.17.0.1", "192.168.0.1", "8.8.8.8"):
    attempt(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect((address, 53)) is None)
attempt(lambda: socket.socket(socket.AF_INET6, socket.SOCK_DGRAM).connect(("2001:4860:4860::8888", 53)) is None)`,
  ),
  inPython(
    'pings',
    () => `attempt(lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP))
attempt(lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP).connect(("8.8.8.8", 0)) is None)`,
  ),
  inPython('has a server for names', () => `attempt(lambda: "nameserver" in open("/etc/resolv.conf").read())`),
  inPython('listens to the wire', () => `attempt(lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 3))`),
  inBash(
    'has an interface',
    () =>
      `grep -v lo: /proc/net/dev | grep -q : && echo ESCAPED; test "$(wc -l < /proc/net/route)" -gt 1 && echo ESCAPED`,
  ),
]

/** What no namespace keeps code from: these need a filter on system calls. */
export const callAttacks: readonly Attack[] = [
  inPython(
    'asks for keys',
    () => `number = {"x86_64": 250, "aarch64": 219}[os.uname().machine]
attempt(lambda: libc.syscall(number, 0, -3, 1, 0, 0) >= 0)`,
  ),
  inPython('speaks to the machine below the machine', () => `attempt(lambda: socket.socket(40, socket.SOCK_STREAM))`),
  inPython(
    'speaks to the kernel in other ways',
    () => `attempt(lambda: libc.syscall(425, 8, ctypes.create_string_buffer(200)) >= 0)
attempt(lambda: socket.socket(38, socket.SOCK_SEQPACKET))
attempt(lambda: libc.syscall(438, libc.syscall(434, 1, 0), 1, 0) >= 0)`,
  ),
  inPython(
    'holds memory that no limit counts',
    () => `attempt(lambda: os.memfd_create("memory") >= 0)
attempt(lambda: libc.shmget(0, 1_000_000, 0o1600) >= 0)
attempt(lambda: libc.msgget(0, 0o1600) >= 0)`,
  ),
  inPython('traces what looks after it', () => `attempt(lambda: libc.ptrace(16, 1, 0, 0) == 0)`),
]

export const attacks: readonly Attack[] = [...files, ...writes, ...privileges, ...processes, ...network]
