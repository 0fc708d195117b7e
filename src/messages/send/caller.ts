import type { Caller } from '../../accounts/authenticate.ts'
import type { Pausable } from '../../platform/pausable.ts'

/** Who sends a message. */
export interface SendCaller extends Caller {
  /** Paused while the send waits for WhatsApp; absent outside a request. */
  slot?: Pausable | null
  /** Receives the ID of each message that the call sends or replays. */
  onMessage?(messageId: string): void
  /** The response will be that of an earlier request with the same `Idempotency-Key`. */
  onReplay?(): void
}
