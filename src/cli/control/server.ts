import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { z } from 'zod'
import type { Deps } from '../../deps.ts'
import type { Print, Report } from '../command.ts'
import { dataCommands, findCommand } from '../commands.ts'
import { describeFailure, UsageError } from '../failure.ts'
import { readLine } from '../input.ts'
import { parseLine } from '../syntax.ts'
import type { SocketPlace } from './socket.ts'

/** A command line is short and must arrive quickly. */
const requestTimeoutMilliseconds = 10_000

/** Runs the commands of other processes with the `Deps` of this process. */
export interface ControlServer {
  /** Accepts no more commands and waits for running ones. */
  stop(): Promise<void>
}

export async function startControlServer(deps: Deps, place: SocketPlace): Promise<ControlServer> {
  const conversations = new Set<Promise<void>>()
  const listening = new Set<Socket>()
  const stopping = new AbortController()
  const server = createServer((socket) => {
    const conversation = converse(deps, socket, listening, stopping.signal).finally(() =>
      conversations.delete(conversation),
    )
    conversations.add(conversation)
  })
  listenPrivately(server, place.path)
  await once(server, 'listening')
  server.on('error', (error) => deps.log.warn({ err: error }, 'could not accept a command'))
  return {
    stop: async () => {
      server.close()
      for (const socket of listening) socket.destroy()
      stopping.abort()
      await Promise.all(conversations)
      place.remove()
    },
  }
}

/** Creates the socket with private permissions from the start, because the folder may be accessible to others. */
function listenPrivately(server: Server, path: string): void {
  const before = process.umask(0o177)
  try {
    // Node binds the path before `listen` returns.
    server.listen(path)
  } finally {
    process.umask(before)
  }
}

/** Errors on this socket only concern the client, which sees it closed. */
async function converse(deps: Deps, socket: Socket, listening: Set<Socket>, stopping: AbortSignal): Promise<void> {
  listening.add(socket)
  socket.setTimeout(requestTimeoutMilliseconds, () => socket.destroy())
  try {
    const line = await readLine(socket)
    socket.setTimeout(0)
    listening.delete(socket)
    if (line === undefined) return
    const say = (words: ControlProgress | ControlOutput | ControlReply) => socket.write(JSON.stringify(words) + '\n')
    const gone = new AbortController()
    socket.once('close', () => gone.abort())
    const signal = AbortSignal.any([gone.signal, stopping])
    const print = async (output: string) => {
      // Waits for a slow reader, but not after the reader has left or the server is stopping.
      if (!say({ output })) await once(socket, 'drain', { signal })
    }
    say(await perform(deps, line, (progress) => say({ progress }), print))
    socket.end()
  } catch {
    socket.destroy()
  } finally {
    listening.delete(socket)
  }
}

async function perform(deps: Deps, line: string, report: Report, print: Print): Promise<ControlReply> {
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
