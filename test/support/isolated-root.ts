import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'

/**
 * Mounts what every Linux machine has. The mounts belong to a mount namespace, and all processes to a process
 * namespace: the kernel removes both when this script ends, which it does when the tests end, however they end.
 */
const boot = `
set -eu
root=$1 mode=$2
shift 2
mount --bind "$root" "$root"
cd "$root"
mount -t proc proc proc
mount --rbind /sys sys
mount -t tmpfs -o mode=755 tmpfs dev
for device in null zero full random urandom tty; do touch dev/$device; mount --bind /dev/$device dev/$device; done
ln -s /proc/self/fd dev/fd
mkdir -m 1777 dev/shm
mount -t tmpfs -o mode=1777 tmpfs dev/shm
for volume; do mount --bind "$root/$volume" "$root/$volume"; done
if [ $mode = ro ]; then mount -t tmpfs -o mode=1777 tmpfs tmp; mount -o remount,bind,ro "$root"; fi
echo ready
exec 3<&0
cat <&3 >/dev/null &
# An init process must also wait for orphaned processes.
wait $!
`

/** A folder that processes see as their whole file system. They see each other only, and share the network. */
export interface IsolatedRoot {
  start: (command: readonly string[], options: StartOptions) => IsolatedProcess
  /** Ends all processes and removes the mounts. */
  stop: () => Promise<void>
}

interface StartOptions {
  folder: string
  environment: Record<string, string>
}

export interface IsolatedProcess {
  /** A process outside that ends with the exit code of the process inside. */
  outside: ChildProcess
  /** Signals the process, or like Ctrl+C in a terminal the process and those that it started. */
  signal: (name: 'SIGINT' | 'SIGTERM', to: 'process' | 'group') => Promise<void>
}

/** Needs root. With `readOnly`, only `/tmp` and the volumes, which exist, can be written. */
export async function isolateRoot(
  root: string,
  { readOnly = false, volumes = [] }: { readOnly?: boolean; volumes?: readonly string[] } = {},
): Promise<IsolatedRoot> {
  const namespaces = ['--mount', '--pid', '--fork', '--kill-child']
  const init = spawn('unshare', [...namespaces, 'sh', '-c', boot, 'sh', root, readOnly ? 'ro' : 'rw', ...volumes])
  await waitUntilReady(init)
  const inProcess = `/proc/${init.pid}/ns`
  const enter = [`--mount=${inProcess}/mnt`, `--pid=${inProcess}/pid_for_children`, '--', 'chroot', root]
  let started = 0
  return {
    start: (command, { folder, environment }) => {
      const file = `/dev/process-${started++}`
      const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`)
      const shell = ['sh', '-c', 'echo $$ > "$0"; exec setsid "$@"', file]
      const inside = ['env', '--ignore-environment', `--chdir=${folder}`, ...variables, ...shell, ...command]
      return {
        outside: spawn('nsenter', [...enter, ...inside]),
        signal: async (name, to) => {
          const target = to === 'group' ? '-$(cat "$0")' : '$(cat "$0")'
          await promisify(execFile)('nsenter', [...enter, 'sh', '-c', `kill -s ${name.slice(3)} -- ${target}`, file])
        },
      }
    },
    stop: async () => {
      const exited = once(init, 'exit')
      init.stdin.end()
      await exited
    },
  }
}

async function waitUntilReady(init: ReturnType<typeof spawn>): Promise<void> {
  const { stdout, stderr } = init
  if (stdout === null || stderr === null) throw new Error('the output of unshare is not piped')
  const failed = once(init, 'exit').then(async () => {
    throw new Error(`Mount and process namespaces could not be created, which needs root: ${await text(stderr)}`)
  })
  await Promise.race([once(stdout, 'data'), failed])
}
