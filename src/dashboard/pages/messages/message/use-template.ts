import type { Message } from '../../../../../contracts/api/message.ts'
import type { OwnTemplate } from '../../../../../contracts/dashboard/template.ts'
import { useTemplates } from '../../templates/use-templates.ts'

export type FoundTemplate =
  | { kind: 'loading' }
  | { kind: 'found'; template: OwnTemplate }
  /** Deleted since, or its WhatsApp account was removed. */
  | { kind: 'missing' }

/** Templates change rarely, and each message that is opened asks for its own. */
const staleMilliseconds = 60_000

/** The template of a message as it is today. */
export function useTemplateOf({ template: wanted, language, accountId }: Message): FoundTemplate {
  const { data, isPending } = useTemplates(accountId, { staleTime: staleMilliseconds })
  if (isPending) return { kind: 'loading' }
  const template = data?.items.find((one) => one.name === wanted && one.language === language)
  return template ? { kind: 'found', template } : { kind: 'missing' }
}
