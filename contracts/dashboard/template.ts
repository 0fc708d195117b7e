import { z } from 'zod'
import { Media } from '../api/media.ts'
import { type SendMessageRequest, templateValues } from '../api/message.ts'
import { Template } from '../api/template.ts'
import { LanguageCode, PageLimit, PhoneNumber, singleLine, TemplateName, Timestamp } from '../fields.ts'
import { changes } from '../facts/changes.ts'
import { CategoryCost } from '../pricing.ts'
import { Facts } from './facts.ts'
import { SentFromDashboard } from './message.ts'
import { accountInput, ownerChange, ownerCheck, viewerQuery } from '../procedure.ts'

export const OwnTemplate = Template.extend({
  /** WhatsApp's rating of recipient feedback: `GREEN`, `YELLOW`, `RED` or `UNKNOWN`. */
  qualityScore: z.string().optional(),
  /** The category that WhatsApp has announced; absent if the template keeps its category. */
  upcomingCategory: z
    .object({ category: z.string(), takesEffectAt: Timestamp.optional(), cost: CategoryCost.optional() })
    .optional(),
  facts: Facts.optional(),
})
export type OwnTemplate = z.infer<typeof OwnTemplate>

/** Lists the templates of one WhatsApp account's WABA (of the default account by default), by name, then language. */
export const listTemplates = viewerQuery({
  summary: 'List the templates of a WhatsApp account',
  input: accountInput({
    whatsAppAccountId: singleLine(64).optional(),
    status: singleLine(64).optional(),
    cursor: singleLine(1024).optional(),
    limit: PageLimit,
  }),
  output: z.object({
    items: z.array(OwnTemplate),
    nextCursor: z.string().optional(),
    /** When the templates were last synced from WhatsApp; absent if never. */
    syncedAt: Timestamp.optional(),
  }),
})

/** Further problems are counted, but not listed. */
export const maxTemplateProblems = 5

export const listTemplateProblems = viewerQuery({
  summary: 'List the templates that WhatsApp paused or disabled, and those whose quality is low',
  output: z.object({
    items: z.array(
      OwnTemplate.pick({ name: true, language: true, status: true, qualityScore: true }).extend({
        /** A WhatsApp account that has the template. */
        whatsAppAccountId: z.string(),
      }),
    ),
    total: z.int(),
  }),
})

export const syncTemplates = ownerCheck({
  summary: 'Sync the templates from WhatsApp now',
  output: z.object({ synced: z.int(), approved: z.int() }),
  audit: changes.syncTemplates,
})

export type SentTest = z.infer<typeof SentFromDashboard>

/** Returns an example request for each template that works with example values, simplest first. Media do not. */
export function listTrials(templates: readonly OwnTemplate[]): SendMessageRequest[] {
  return templates
    .flatMap(({ sendable, example, placeholders }) =>
      sendable && example && !hasMedia(example) ? [{ example, variables: placeholders.length }] : [],
    )
    .toSorted((a, b) => a.variables - b.variables)
    .map(({ example }) => example)
}

function hasMedia({ header, cards = [] }: SendMessageRequest): boolean {
  return [header, ...cards.map((card) => card.header)].some((part) => part !== undefined && part.text === undefined)
}

/** Sends a real message from the account's number. It counts towards the rate limit of the API. */
export const sendTest = ownerChange({
  summary: 'Send a test message with a template',
  input: accountInput({
    to: PhoneNumber,
    template: TemplateName,
    language: LanguageCode,
    ...templateValues,
    whatsAppAccountId: singleLine(64).optional(),
  }),
  output: SentFromDashboard,
  audit: changes.tryTemplate,
})

export const testMediaPath = '/settings/media'

/**
 * Served at `testMediaPath`, as `uploadTemplateSample` is at its path. Unlike a sample, which is for the review of a template,
 * the file is stored, and a send names it by its ID.
 */
export const uploadTestMedia = ownerCheck({
  summary: 'Upload a file for the media header of a test message',
  input: accountInput({ whatsAppAccountId: singleLine(64).optional() }),
  output: Media,
  audit: () => changes.uploadMedia(),
})
