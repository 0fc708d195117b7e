import { z } from 'zod'
import { MessageStatus } from '../api/message.ts'
import { FailureCode, singleLine, Timestamp } from '../fields.ts'
import { accountInput, dashboardProcedure, viewerQuery } from '../procedure.ts'
import { Country, FailureStage } from './message.ts'

export const viewLimits = { nameLength: 60 } as const

/** Relative time ranges of the message log. */
export const viewRanges = [
  'today',
  'yesterday',
  '1h',
  '24h',
  '7d',
  '30d',
  '90d',
  'month',
  'previousMonth',
  'custom',
] as const

/** Filters of the message log, as in the query of its URL. */
export const ViewFilters = z.strictObject({
  status: MessageStatus.optional(),
  outcome: z.literal('unknown').optional(),
  range: z.enum(viewRanges).optional(),
  from: Timestamp.optional(),
  until: Timestamp.optional(),
  search: singleLine(255).optional(),
  parts: z.literal('yes').optional(),
  errorCode: FailureCode.optional(),
  template: singleLine(512).optional(),
  whatsAppAccountId: singleLine(64).optional(),
  country: Country.optional(),
  failure: FailureStage.optional(),
  to: singleLine(255).optional(),
  externalId: singleLine(255).optional(),
})
export type ViewFilters = z.infer<typeof ViewFilters>

const ViewName = z.string().trim().pipe(singleLine(viewLimits.nameLength))

/** A named set of filters. Only the user who saved it sees it. */
export const View = z.object({ name: z.string(), filters: ViewFilters })
export type View = z.infer<typeof View>

export const listViews = viewerQuery({
  summary: 'List your saved views of the message log, by name',
  output: z.object({ items: z.array(View) }),
})

/** Allowed for viewers and not in the audit log, because a view changes nothing in the account. */
export const saveView = dashboardProcedure({
  kind: 'mutation',
  budget: 'changes',
  allowed: 'viewer',
  summary: 'Save filters of the message log under a name; replaces a view with the same name',
  input: accountInput({ name: ViewName, filters: ViewFilters }),
  output: View,
  audit: 'nothing',
})

export const renameView = dashboardProcedure({
  kind: 'mutation',
  budget: 'changes',
  allowed: 'viewer',
  summary: 'Rename a saved view',
  input: accountInput({ name: ViewName, newName: ViewName }),
  output: View,
  audit: 'nothing',
})

export const deleteView = dashboardProcedure({
  kind: 'mutation',
  budget: 'changes',
  allowed: 'viewer',
  summary: 'Delete a saved view',
  input: accountInput({ name: ViewName }),
  output: z.object({ deleted: z.literal(true) }),
  audit: 'nothing',
})
