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

/** A command line is short; so is the time it takes to arrive. */
const requestTimeoutMilliseconds = 10_000

/** Runs the commands of other processes with our own `Deps`. */
export interface ControlServer {
  /** Takes no more commands, and waits for those that run. */
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
  server.on('error', (error) => deps.log.warn({ err: error }, 'a command could not be taken'))
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

/** The socket is its owner's alone from the start, also in a folder that others may enter. */
function listenPrivately(server: Server, path: string): void {
  const before = process.umask(0o177)
  try {
    // Node binds a path before `listen` returns.
    server.listen(path)
  } finally {
    process.umask(before)
  }
}

/** Whatever happens on this socket concerns nobody but the other end, which sees it closed. */
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
      // Whoever reads slowly is waited for, but neither after they left nor when the server stops.
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
    if (!found) throw new UsageError('The running server does not know this command: it is of another version.')
    const typed = parseLine(found.command, found.rest)
    const { json, ...answer } = await found.command.run(deps, typed, report, print)
    // What travels is JSON, and so becomes what JSON makes of it: no undefined, no dates.
    return { ok: true, answer: { json: JSON.parse(JSON.stringify(json)), ...answer } }
  } catch (error) {
    deps.log.debug({ err: error }, 'a command failed')
    return { ok: false, failure: describeFailure(error) }
  }
}

/**
 * What a command and a running server say to each other over the control socket: a JSON line there, and
 * one back, after as many as the server has progress or output to tell. They hold secrets, and so are never logged.
 */
export const ControlRequest = z.object({ argv: z.array(z.string()) })
export type ControlRequest = z.infer<typeof ControlRequest>

export const ControlReply = z.discriminatedUnion('ok', [
  z.object({
    ok: z.literal(true),
    answer: z.object({
      json: z.json(),
      text: z.string(),
      exitCode: z.int().optional(),
      isPrinted: z.boolean().optional(),
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
