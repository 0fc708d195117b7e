import { fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'

export interface UpstreamOptions {
  seed: number
  port: number
  /** The folder of the ledger. */
  folder: string
  appSecret: string
  sender: { phoneNumberId: string; wabaId: string }
  /** Where statuses are reported: any of Waybill's processes. */
  callbackOrigins: [string, ...string[]]
}

/** `reset` and `garbage` apply either before or after the message is accepted. */
export type Behaviour = 'normal' | 'slow' | 'refused' | 'reset' | 'garbage'

export type UpstreamCommand = { kind: 'behave'; behaviour: Behaviour } | { kind: 'status' } | { kind: 'close' }

export interface UpstreamReply {
  /** Messages with statuses that are not yet reported or not yet acknowledged. */
  outstanding: number
  /** Acknowledged statuses. */
  acknowledged: number
  /** Idempotency keys of messages that were received but not accepted; their callers may never learn the outcome. */
  undecided: string[]
}

export interface Upstream {
  url: string
  behave(behaviour: Behaviour): Promise<void>
  status(): Promise<UpstreamReply>
  /** The ledger is complete when this resolves. */
  close(): Promise<void>
}

export async function startUpstream(options: UpstreamOptions): Promise<Upstream> {
  const child = fork(path.join(import.meta.dirname, 'upstream.ts'), [JSON.stringify(options)])
  const ended = once(child, 'exit')
  void ended.then(([code]) => child.connected && console.error(`the simulated upstream ended with code ${code}`))
  await Promise.race([once(child, 'message'), ended.then(fail)])
  let turn: Promise<unknown> = Promise.resolve()
  // Sends one command at a time, since replies arrive in the order of the commands.
  const execute = (command: UpstreamCommand) => {
    const reply = turn.then(async () => {
      const answered = once(child, 'message')
      child.send(command)
      const [message] = await Promise.race([answered, ended.then(fail)])
      return message as UpstreamReply
    })
    turn = reply.catch(() => {})
    return reply
  }
  return {
    url: `http://127.0.0.1:${options.port}`,
    behave: async (behaviour) => void (await execute({ kind: 'behave', behaviour })),
    status: () => execute({ kind: 'status' }),
    close: async () => {
      if (!child.connected) return
      await execute({ kind: 'close' })
      child.disconnect()
      await ended
    },
  }
}

function fail(): never {
  throw new Error('the simulated upstream exited unexpectedly; see its message above')
}
