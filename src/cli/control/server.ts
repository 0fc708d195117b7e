import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { z } from 'zod'
import type { Deps } from '../../deps.ts'
import type { Print, Report } from '../command.ts'
import { dataCommands, findCommand } from '../commands.ts'
import { describeFailure, UsageError } from '../failure.ts'
import { readLine } from '../input.ts'
import { parseLine } from '../syntax.ts'
import type { ControlSocket } from './socket.ts'

/** A command line is short and must arrive quickly. */
const requestTimeoutMilliseconds = 10_000

/** Runs the commands of other processes with the `Deps` of this process. */
export interface ControlServer {
  /** Accepts no more commands and waits for running ones. */
  stop(): Promise<void>
}

export async function startControlServer(deps: Deps, { path, remove }: ControlSocket): Promise<ControlServer> {
  const connections = new Set<Promise<void>>()
  /** Connections whose request has not arrived yet. */
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
  pending.add(socket)
  socket.setTimeout(requestTimeoutMilliseconds, () => socket.destroy())
  try {
    const line = await readLine(socket)
    socket.setTimeout(0)
    pending.delete(socket)
    if (line === undefined) return
    const send = (message: ControlProgress | ControlOutput | ControlReply) =>
      socket.write(JSON.stringify(message) + '\n')
    const disconnected = new AbortController()
    socket.once('close', () => disconnected.abort())
    const signal = AbortSignal.any([disconnected.signal, stopping])
    const print = async (output: string) => {
      // Waits for a slow reader, unless it has disconnected or the server is stopping.
      if (!send({ output })) await once(socket, 'drain', { signal })
    }
    send(await runCommand(deps, line, (progress) => send({ progress }), print))
    socket.end()
  } catch {
    socket.destroy()
  } finally {
    pending.delete(socket)
  }
}

async function runCommand(deps: Deps, line: string, report: Report, print: Print): Promise<ControlReply> {
  try {
    const { argv } = ControlRequest.parse(JSON.parse(line))
    const found = findCommand(dataCommands, argv)
    if (!found)
      throw new UsageError(
        'The running server does not know this command because it has another version. Restart it with this version.',
      )
    const typed = parseLine(found.command, found.rest)
    const { json, ...answer } = await found.command.run(deps, typed, report, print)
    // The result is sent as JSON, so dates become strings and undefined values are dropped.
    return { ok: true, answer: { json: JSON.parse(JSON.stringify(json)) as Json, ...answer } }
  } catch (error) {
    deps.log.debug({ err: error }, 'a command failed')
    return { ok: false, failure: describeFailure(error) }
  }
}

/**
 * Messages between a command and a running server over the control socket: one JSON line as the request, then any
 * number of progress and output lines, then one result. They hold secrets and must never be logged.
 */
const ControlRequest = z.object({ argv: z.array(z.string()) })
type ControlRequest = z.infer<typeof ControlRequest>

type Json = z.infer<ReturnType<typeof z.json>>

export const ControlReply = z.discriminatedUnion('ok', [
  z.object({
    ok: z.literal(true),
    answer: z.object({
      json: z.json(),
      text: z.string(),
      exitCode: z.int().optional(),
      isPrinted: z.boolean().optional(),
      ifLost: z.string().optional(),
      question: z
        .object({
          option: z.string(),
          text: z.string(),
          isSecret: z.boolean().optional(),
          preset: z.string().optional(),
          isOptional: z.boolean().optional(),
        })
        .optional(),
    }),
  }),
  z.object({ ok: z.literal(false), failure: z.object({ error: z.string(), exitCode: z.int() }) }),
])
export type ControlReply = z.infer<typeof ControlReply>

export const ControlProgress = z.object({ progress: z.string() })
export type ControlProgress = z.infer<typeof ControlProgress>

/** Lines for standard output. */
export const ControlOutput = z.object({ output: z.string() })
export type ControlOutput = z.infer<typeof ControlOutput>
