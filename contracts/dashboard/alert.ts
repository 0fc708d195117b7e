import { z } from 'zod'
import { line, Timestamp } from '../fields.ts'
import { dashboardProcedure, ofAccount } from '../procedure.ts'
import { changes } from './changes.ts'

export const chatFormats = ['slack', 'teams'] as const
export type ChatFormat = (typeof chatFormats)[number]

const Chat = z.object({
  format: z.enum(chatFormats),
  /** Of the URL, whose rest is a secret. */
  host: z.string(),
  /** Why the last post failed; absent if it did not. */
  problem: z.string().optional(),
  problemAt: Timestamp.optional(),
})
export type Chat = z.infer<typeof Chat>

export const AlertSettings = z.object({
  /** Absent if alerts are not posted to a chat. */
  chat: Chat.optional(),
  /** Whether this server sends e-mail; then each member receives the alerts. */
  emails: z.boolean(),
})
export type AlertSettings = z.infer<typeof AlertSettings>

export const getAlertSettings = dashboardProcedure({
  kind: 'query',
  allowed: 'viewer',
  summary: 'Read how alerts are sent',
  input: ofAccount({}),
  output: AlertSettings,
})

export const setChat = dashboardProcedure({
  kind: 'mutation',
  allowed: 'owner',
  summary: 'Post alerts to a chat in Slack or Teams',
  input: ofAccount({
    url: line(2048),
    /** By default, the format of the host, if it is known. */
    format: z.enum(chatFormats).optional(),
  }),
  output: Chat,
  // Without the URL, which is a secret.
  audit: changes.setAlertChat,
})

export const removeChat = dashboardProcedure({
  kind: 'mutation',
  allowed: 'owner',
  summary: 'Stop posting alerts to a chat',
  input: ofAccount({}),
  output: z.object({ removed: z.boolean() }),
  audit: changes.removeAlertChat,
})

export const ChatTest = z.object({
  posted: z.boolean(),
  /** Absent if there was no response. */
  statusCode: z.int().optional(),
  /** Why it failed. */
  error: z.string().optional(),
})
export type ChatTest = z.infer<typeof ChatTest>

export const testChat = dashboardProcedure({
  kind: 'mutation',
  allowed: 'owner',
  summary: 'Post a test message to the chat',
  input: ofAccount({}),
  output: ChatTest,
  audit: changes.testAlertChat,
})
