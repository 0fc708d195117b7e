import { eraseRecipient } from '../../src/messages/erasure/erase.ts'
import type { TestServer } from './server.ts'

/** Erases a recipient of one account, or of all, without an entry in the audit log. */
export function erase({ deps }: TestServer, recipient: string, accountId?: string): ReturnType<typeof eraseRecipient> {
  return eraseRecipient(deps, { recipient, accountId }, { audited: (_accountId, _what, run) => run() })
}
