import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import type { z } from 'zod'
import { ServiceError } from '../../../contracts/errors.ts'
import type { Deps } from '../../deps.ts'
import type { CommandUser } from '../command.ts'
import { dataCommands, findCommand } from '../commands.ts'
import { describeFailure, UsageError } from '../failure.ts'
import { readLines } from '../input.ts'
import { parseLine } from '../syntax.ts'
import { Answer, type ControlReply, type ControlSocket, type FromServer, Request } from './protocol.ts'

/** A command line is short and must arrive quickly. */
const requestTimeoutMilliseconds = 10_000

/** Runs the commands of other processes with the `Deps` of this process. */
export interface ControlServer {
  /** Accepts no more commands and waits for running ones. */
  stop(): Promise<void>
}

export async function startControlServer(deps: Deps, { path, remove }: ControlSocket): Promise<ControlServer> {
  const connections = new Set<Promise<void>>()
  /** Connections that wait for the client. */
  const pending = new Set<Socket>()
  const stopping = new AbortController()
  const server = createServer((socket) => {
    const connection = handleConnection(deps, socket, pending, stopping.signal).finally(() =>
      connections.delete(connection),
    )
    connections.add(connection)
  })
  listenPrivately(server, path)
  await once(server, 'listening')
  server.on('error', (error) => deps.log.warn({ err: error }, 'could not accept a command'))
  return {
    stop: async () => {
      server.close()
      for (const socket of pending) socket.destroy()
      stopping.abort()
      await Promise.all(connections)
      remove()
    },
  }
}

/** Creates the socket with private permissions from the start, because the folder may be accessible to others. */
function listenPrivately(server: Server, path: string): void {
  const previous = process.umask(0o177)
  try {
    // Node binds the path before `listen` returns.
    server.listen(path)
  } finally {
    process.umask(previous)
  }
}

/** Errors on this socket only concern the client, which sees it closed. */
async function handleConnection(
  deps: Deps,
  socket: Socket,
  pending: Set<Socket>,
  stopping: AbortSignal,
): Promise<void> {
  const lines = readLines(socket)
  /** Read ahead, so that it is noticed if the client disconnects while the command runs. */
  let next = lines.next()
  const receive = async (): Promise<string | undefined> => {
    pending.add(socket)
    const line = await next.finally(() => pending.delete(socket))
    next = lines.next()
    next.catch(() => {})
    return line.done ? undefined : line.value
  }
  const send = (message: FromServer) => socket.write(JSON.stringify(message) + '\n')
  socket.setTimeout(requestTimeoutMilliseconds, () => socket.destroy())
  try {
    const request = await receive()
    socket.setTimeout(0)
    if (request === undefined) return
    const disconnected = new AbortController()
    socket.once('close', () => disconnected.abort())
    const signal = AbortSignal.any([disconnected.signal, stopping])
    const reply = await runCommand(deps, request, {
      report: (progress) => void send({ progress }),
      print: async (output) => {
        // Waits for a slow reader, unless it has disconnected or the server is stopping.
        if (!send({ output })) await once(socket, 'drain', { signal })
      },
      ask: async (question) => {
        if (!stopping.aborted) send({ question })
        const line = stopping.aborted ? undefined : await receive()
        // Not the same as no answer, which means the default of an optional question.
        if (line === undefined) throw unanswered()
        return Answer.parse(JSON.parse(line)).answer
      },
    })
    send(reply)
    socket.end()
  } catch {
    socket.destroy()
  }
}

function unanswered(): ServiceError {
  return new ServiceError(
    'SETTING_REFUSED',
    'The running server stopped before the question was answered. Nothing was changed: run the command again.',
  )
}

async function runCommand(deps: Deps, request: string, user: CommandUser): Promise<ControlReply> {
  try {
    const { argv } = Request.parse(JSON.parse(request))
    const found = findCommand(dataCommands, argv)
    if (!found)
      throw new UsageError(
        'The running server does not know this command because it has another version. Restart it with this version.',
      )
    const { json, ...answer } = await found.command.run(deps, parseLine(found.command, found.rest), user)
    // The result is sent as JSON, so dates become strings and undefined values are dropped.
    return { ok: true, answer: { json: JSON.parse(JSON.stringify(json)) as z.core.util.JSONType, ...answer } }
  } catch (error) {
    deps.log.debug({ err: error }, 'a command failed')
    return { ok: false, failure: describeFailure(error) }
  }
}
