import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { ServiceError } from '../../../contracts/errors.ts'
import type { User } from '../command.ts'
import { readLines } from '../input.ts'
import { OutputError } from '../output.ts'
import { type Answer, type ControlReply, FromServer, isTrustworthy, type Request } from './protocol.ts'

/** Runs a command in a running server. Returns undefined if no server is listening; then nothing was executed. */
export async function runOnServer(
  { dataDir, socketPath }: { dataDir: string; socketPath: string },
  argv: string[],
  { report, print, ask }: User,
): Promise<ControlReply | undefined> {
  if (!isTrustworthy(socketPath, dataDir)) return undefined
  const socket = await open(socketPath)
  if (!socket) return undefined
  const send = (message: Request | Answer) => socket.write(JSON.stringify(message) + '\n')
  try {
    send({ argv })
    for await (const line of readLines(socket)) {
      const message = FromServer.parse(JSON.parse(line))
      if ('ok' in message && message.ok && message.answer.question !== undefined) throw otherVersion()
      if ('ok' in message) return message
      if ('progress' in message) report(message.progress)
      else if ('output' in message) await print(message.output)
      else send({ answer: await ask(message.question) })
    }
    throw new Error('closed without a response')
  } catch (error) {
    if (error instanceof ServiceError || error instanceof OutputError) throw error
    throw new ServiceError(
      'SETTING_REFUSED',
      'The running server stopped before it responded. Check whether the command took effect before you repeat it.',
      { cause: error },
    )
  } finally {
    socket.destroy()
  }
}

/** Nothing was changed: a server of an earlier version asks before any change, and expects the command again. */
function otherVersion(): ServiceError {
  return new ServiceError('SETTING_REFUSED', 'The running server has another version. Restart it with this version.')
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
