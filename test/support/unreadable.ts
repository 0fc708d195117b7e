import { randomBytes } from 'node:crypto'
import { createSecretBox } from '../../src/platform/secrets.ts'

/** A secret that cannot be decrypted: its key was removed from the ring, or its row comes from another installation. */
export const unreadable = createSecretBox([randomBytes(32)], randomBytes).encrypt('secret', 'any')
