import type { Message } from '../../../../../contracts/api/message.ts'
import type { OwnTemplate } from '../../../../../contracts/dashboard/template.ts'
import { useTemplates } from '../../templates/use-templates.ts'

export type FoundTemplate =
  | { kind: 'loading' }
  | { kind: 'found'; template: OwnTemplate }
  /** The template was deleted, or its WhatsApp account was removed. */
  | { kind: 'missing' }

/** Templates change rarely, and every opened message reads its template. */
const staleMilliseconds = 60_000

/** The current version of a message's template. */
export function useTemplateOf({ template: wanted, language, accountId }: Message): FoundTemplate {
  const { data, isPending } = useTemplates(accountId, { staleTime: staleMilliseconds })
  if (isPending) return { kind: 'loading' }
  const template = data?.items.find((one) => one.name === wanted && one.language === language)
  return template ? { kind: 'found', template } : { kind: 'missing' }
}
