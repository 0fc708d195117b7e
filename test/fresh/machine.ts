import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createDebianRoot, findCommand, installNode, networkVariables } from '../support/debian.ts'
import { isolateRoot, type IsolatedProcess } from '../support/isolated-root.ts'

const login = { HOME: '/root', PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' }

/** A minimal Debian with the Node and the npm of this machine, in a folder. */
export interface Machine {
  root: string
  /** Starts a shell command in a folder of the machine. */
  start: (folder: string, command: string) => IsolatedProcess
  /** Ends all processes of the machine and deletes it. */
  remove: () => Promise<void>
}

export async function createMachine(): Promise<Machine> {
  const root = await mkdtemp(path.join(tmpdir(), 'waybill-machine-'))
  await createDebianRoot(root)
  await installNode(root, await findCommand('node'))
  const isolated = await isolateRoot(root)
  const environment = { ...login, ...networkVariables() }
  return {
    root,
    start: (folder, command) => isolated.start(['sh', '-c', command], { folder, environment }),
    remove: async () => {
      await isolated.stop()
      await rm(root, { recursive: true, force: true })
    },
  }
}
