import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { z } from 'zod'
import { ServiceError } from '../../../contracts/errors.ts'
import type { Print, Report } from '../command.ts'
import { readLines } from '../input.ts'
import { ControlOutput, ControlProgress, ControlReply } from './server.ts'
import { isTrustworthy } from './socket.ts'

/** Runs a command in a running server. Returns undefined if no server is listening; then nothing was executed. */
export async function runOnServer(
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
      const message: unknown = JSON.parse(line)
      const parsed = z.union([ControlProgress, ControlOutput]).safeParse(message)
      if (!parsed.success) return ControlReply.parse(message)
      if ('progress' in parsed.data) report(parsed.data.progress)
      else await print(parsed.data.output)
    }
    throw new Error('closed without a response')
  } catch (error) {
    throw new ServiceError(
      'SETTING_REFUSED',
      'The running server stopped before it responded. Check whether the command took effect before you repeat it.',
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
