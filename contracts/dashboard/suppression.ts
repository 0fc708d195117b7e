import { z } from 'zod'
import {
  addSuppression as publicAdd,
  importSuppressions as publicImport,
  listSuppressions as publicList,
  removeSuppression as publicRemove,
  Suppression,
} from '../api/suppression.ts'
import { accountInput, ownerChange, viewerQuery } from '../procedure.ts'
import { changes } from '../facts/changes.ts'
import { Facts } from './facts.ts'

/** WhatsApp's categories of templates. */
export const suppressedCategories = ['MARKETING', 'UTILITY', 'AUTHENTICATION'] as const
export type SuppressedCategory = (typeof suppressedCategories)[number]

const SuppressionSettings = z.object({
  /** Template categories that are not sent to suppressed recipients; MARKETING is always one of them. */
  categories: z.array(z.enum(suppressedCategories)),
})

export const UserSuppression = Suppression.extend({
  /** Who added the recipient, as in the audit log; absent if the recipient or WhatsApp did, or if it is not known. */
  addedBy: z.string().optional(),
  facts: Facts.optional(),
})
export type UserSuppression = z.infer<typeof UserSuppression>

export const listSuppressions = viewerQuery({
  summary: 'List suppressed recipients, the newest first',
  input: accountInput(publicList.input.shape),
  output: publicList.output.extend({ items: z.array(UserSuppression) }),
})

export const addSuppression = ownerChange({
  summary: 'Add a recipient to the suppression list',
  input: accountInput(publicAdd.input.shape),
  output: publicAdd.output,
  audit: changes.addSuppression,
})

export const removeSuppression = ownerChange({
  summary: 'Remove a recipient from the suppression list',
  input: accountInput(publicRemove.input.shape),
  output: publicRemove.output,
  audit: changes.removeSuppression,
})

export const importSuppressions = ownerChange({
  summary: 'Add many recipients to the suppression list',
  input: accountInput(publicImport.input.shape),
  output: publicImport.output,
  audit: ({ recipients: { length: count } }) =>
    count === 1 ? changes.addSuppression() : changes.addSuppressions({ count }),
})

export const getSuppressionSettings = viewerQuery({
  summary: 'Read which template categories are not sent to suppressed recipients',
  output: SuppressionSettings,
})

export const setSuppressedCategories = ownerChange({
  summary: 'Set which template categories are not sent to suppressed recipients; MARKETING always is one',
  input: accountInput({
    categories: z
      .array(z.enum(suppressedCategories, `must be a template category: ${suppressedCategories.join(', ')}`))
      .max(10, 'must have at most 10 categories'),
  }),
  output: SuppressionSettings,
  audit: ({ categories }) =>
    changes.setSuppressedCategories({ categories: [...new Set(['MARKETING', ...categories])].join(', ') }),
})
