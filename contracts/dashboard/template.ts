import { z } from 'zod'
import { type SendMessageRequest, templateValues } from '../api/message.ts'
import { Template } from '../api/template.ts'
import { LanguageCode, line, PageLimit, PhoneNumber, TemplateName, Timestamp } from '../fields.ts'
import { changes } from './changes.ts'
import { SentFromDashboard } from './message.ts'
import { ofAccount, dashboardProcedure } from '../procedure.ts'

export const OwnTemplate = Template.extend({
  /** `GREEN`, `YELLOW`, `RED` or `UNKNOWN`, as WhatsApp rates what recipients thought of it. */
  qualityScore: z.string().optional(),
  /** Why WhatsApp rejected it, in its own words. */
  rejectedReason: z.string().optional(),
})
export type OwnTemplate = z.infer<typeof OwnTemplate>

/** By name, then language, of the WABA of one WhatsApp account: the default one when none is named. */
export const listTemplates = dashboardProcedure({
  kind: 'query',
  allowed: 'viewer',
  summary: 'List the templates of a WhatsApp account',
  input: ofAccount({
    whatsAppAccountId: line(64).optional(),
    status: line(64).optional(),
    cursor: line(1024).optional(),
    limit: PageLimit,
  }),
  output: z.object({
    items: z.array(OwnTemplate),
    nextCursor: z.string().optional(),
    /** When the templates were last read from WhatsApp; absent when they never were. */
    syncedAt: Timestamp.optional(),
  }),
})

/** More are counted, and not listed. */
export const maxTemplateProblems = 5

export const listTemplateProblems = dashboardProcedure({
  kind: 'query',
  allowed: 'viewer',
  summary: 'List the templates that WhatsApp paused or disabled, and those whose quality is low',
  input: ofAccount({}),
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

export const syncTemplates = dashboardProcedure({
  kind: 'mutation',
  allowed: 'owner',
  summary: 'Read the templates from WhatsApp now',
  input: ofAccount({}),
  output: z.object({ synced: z.int(), approved: z.int() }),
  audit: changes.syncTemplates,
})

export type SentTest = z.infer<typeof SentFromDashboard>

/**
 * Returns a request for each template that can be tried with made-up values, the simplest first. Media cannot be made up.
 */
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

/** A real message, of the account's own number. It counts against the rate limit of the API. */
export const sendTest = dashboardProcedure({
  kind: 'mutation',
  allowed: 'owner',
  summary: 'Send a template to a number of your own',
  input: ofAccount({
    to: PhoneNumber,
    template: TemplateName,
    language: LanguageCode,
    ...templateValues,
    whatsAppAccountId: line(64).optional(),
  }),
  output: SentFromDashboard,
  audit: ({ template, language }) => `tried the template ${template} (${language})`,
})
