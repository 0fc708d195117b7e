import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { z } from 'zod'
import { ServiceError } from '../../../contracts/errors.ts'
import type { Print, Report } from '../command.ts'
import { readLines } from '../input.ts'
import { ControlOutput, ControlProgress, ControlReply } from './server.ts'
import { isTrustworthy } from './socket.ts'

/** Runs a command in a running server. Returns undefined if no server listens, so that nothing was executed. */
export async function askServer(
  { dataDir, socketPath }: { dataDir: string; socketPath: string },
  argv: string[],
  { report, print }: { report: Report; print: Print },
): Promise<ControlReply | undefined> {
  if (!isTrustworthy(socketPath, dataDir)) return undefined
  const socket = await open(socketPath)
  if (!socket) return undefined
  try {
    socket.write(JSON.stringify({ argv }) + '\n')
    for await (const line of readLines(socket)) {
      const words: unknown = JSON.parse(line)
      const told = z.union([ControlProgress, ControlOutput]).safeParse(words)
      if (!told.success) return ControlReply.parse(words)
      if ('progress' in told.data) report(told.data.progress)
      else await print(told.data.output)
    }
    throw new Error('closed without a response')
  } catch (error) {
    throw new ServiceError(
      'SETTING_REFUSED',
      'The running server stopped before it answered. Check whether the command took effect before you repeat it.',
      { cause: error },
    )
  } finally {
    socket.destroy()
  }
}

async function open(socketPath: string): Promise<Socket | undefined> {
  const socket = connect(socketPath)
  try {
    await once(socket, 'connect')
    return socket
  } catch {
    socket.destroy()
    return undefined
  }
}
