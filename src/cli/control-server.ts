import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import type { Deps } from '../deps.ts'
import { ControlRequest, type ControlReply } from './control-protocol.ts'
import type { SocketPlace } from './control-socket.ts'
import { dataCommands } from './data-commands.ts'
import { describeFailure } from './failure.ts'
import { findCommand } from './find-command.ts'
import { readLine } from './read-line.ts'
import { parseLine } from './syntax.ts'
import { UsageError } from './usage-error.ts'

/** A command line is short; so is the time it takes to arrive. */
const requestTimeoutMilliseconds = 10_000

/** Runs the commands of other processes with our own `Deps`. */
export interface ControlServer {
  /** Takes no more commands, and waits for those that run. */
  stop(): Promise<void>
}

export async function startControlServer(deps: Deps, place: SocketPlace): Promise<ControlServer> {
  const running = new Set<Promise<void>>()
  const server = createServer((socket) => {
    const conversation = converse(deps, socket).finally(() => running.delete(conversation))
    running.add(conversation)
  })
  server.listen(place.path)
  await once(server, 'listening')
  return { stop: () => stop(server, running, place) }
}

/** Whatever happens on this socket concerns nobody but the other end, which sees it closed. */
async function converse(deps: Deps, socket: Socket): Promise<void> {
  socket.setTimeout(requestTimeoutMilliseconds, () => socket.destroy())
  try {
    const line = await readLine(socket)
    socket.setTimeout(0)
    if (line === undefined) return
    socket.end(JSON.stringify(await perform(deps, line)) + '\n')
  } catch {
    socket.destroy()
  }
}

async function perform(deps: Deps, line: string): Promise<ControlReply> {
  try {
    const { argv } = ControlRequest.parse(JSON.parse(line))
    const found = findCommand(dataCommands, argv)
    if (!found) throw new UsageError('The running server does not know this command: it is of another version.')
    const { json, text, exitCode } = await found.command.run(deps, parseLine(found.command, found.rest))
    // What travels is JSON, and so becomes what JSON makes of it: no undefined, no dates.
    return { ok: true, answer: { json: JSON.parse(JSON.stringify(json)), text, exitCode } }
  } catch (error) {
    deps.log.debug({ err: error }, 'a command failed')
    return { ok: false, failure: describeFailure(error) }
  }
}

async function stop(server: Server, running: Set<Promise<void>>, place: SocketPlace): Promise<void> {
  server.close()
  await Promise.all(running)
  place.remove()
}
