import { useSearchParams } from 'react-router'

export interface TemplateName {
  name: string
  language: string
}

/**
 * The address says which template is open, and of which WhatsApp account the list is, so that either can be
 * linked to: `?account=wa_…&name=order_shipped&language=en`.
 */
export function useTemplateLinks() {
  const [search, setSearch] = useSearchParams()
  const whatsAppAccountId = search.get('account') ?? undefined
  const name = search.get('name')
  const ofList = new URLSearchParams(whatsAppAccountId === undefined ? {} : { account: whatsAppAccountId })
  return {
    whatsAppAccountId,
    opened: name === null ? undefined : { name, language: search.get('language') ?? '' },
    linkTo: ({ name, language }: TemplateName) =>
      `?${new URLSearchParams([...ofList, ['name', name], ['language', language]])}`,
    close: () => setSearch(ofList, { preventScrollReset: true }),
    chooseAccount: (id: string) => setSearch({ account: id }),
  }
}
