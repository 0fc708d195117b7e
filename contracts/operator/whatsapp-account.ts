import { z } from 'zod'
import { accountAddition } from '../facts/changes.ts'
import { addWhatsAppAccount as addVerified } from '../dashboard/whatsapp-account.ts'
import { commandProcedure } from '../procedure.ts'

export const addWhatsAppAccount = commandProcedure({
  kind: 'mutation',
  input: addVerified.input.extend({
    /** Stores the account without asking WhatsApp whether the token can use the number. */
    unverified: z.boolean().default(false),
  }),
  output: addVerified.output,
  audit: accountAddition,
})
