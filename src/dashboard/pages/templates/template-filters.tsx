import { t } from '@lingui/core/macro'
import { Box, Select, SimpleGrid, TextInput } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import type { OwnTemplate } from '../../../../contracts/dashboard/template.ts'
import type { WhatsAppAccount } from '../../../../contracts/dashboard/whatsapp-account.ts'
import { CollapsibleFilters } from '../../ui/collapsible-filters.tsx'
import { describeStatus } from './template-status.ts'
import { nameNumber } from '../../ui/phone-number.ts'

/** Lower case, so that it cannot be a WhatsApp status. */
const all = 'all'

interface TemplateFiltersProps {
  accounts: WhatsAppAccount[]
  /** Undefined for the default account. */
  chosen: string | undefined
  onChoose: (whatsAppAccountId: string) => void
  templates: OwnTemplate[]
  filter: TemplateFilter
  onFilter: (filter: TemplateFilter) => void
}

export function TemplateFilters({ accounts, chosen, onChoose, templates, filter, onFilter }: TemplateFiltersProps) {
  const statuses = [...countStatuses(templates)].map(([status, count]) => ({
    value: status,
    label: `${describeStatus(status).label} (${count})`,
  }))
  const isOther = accounts.some(({ whatsAppAccountId, isDefault }) => whatsAppAccountId === chosen && !isDefault)
  return (
    <Box mb="md">
      <TextInput
        type="search"
        aria-label={t`Search by name`}
        placeholder={t`Search by name`}
        leftSection={<IconSearch size={16} aria-hidden />}
        value={filter.name}
        onChange={(event) => onFilter({ ...filter, name: event.currentTarget.value })}
      />
      <CollapsibleFilters active={Number(filter.status !== null) + Number(isOther)}>
        <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="sm">
          {accounts.length > 1 && <AccountSelect accounts={accounts} chosen={chosen} onChoose={onChoose} />}
          <Select
            label={t`Status`}
            data={[{ value: all, label: t`All` }, ...statuses]}
            value={filter.status ?? all}
            onChange={(status) => onFilter({ ...filter, status: status === all ? null : status })}
            allowDeselect={false}
          />
        </SimpleGrid>
      </CollapsibleFilters>
    </Box>
  )
}

function AccountSelect({ accounts, chosen, onChoose }: Pick<TemplateFiltersProps, 'accounts' | 'chosen' | 'onChoose'>) {
  return (
    <Select
      label={t`WhatsApp account`}
      data={accounts.map((account) => {
        const name = nameNumber(account)
        return { value: account.whatsAppAccountId, label: account.isDefault ? t`${name} (default)` : name }
      })}
      value={chosen ?? accounts.find(({ isDefault }) => isDefault)?.whatsAppAccountId ?? null}
      onChange={(id) => id !== null && onChoose(id)}
      allowDeselect={false}
    />
  )
}

export interface TemplateFilter {
  name: string
  /** A WhatsApp status, or null for all. */
  status: string | null
}

export function filterTemplates(templates: OwnTemplate[], { name, status }: TemplateFilter): OwnTemplate[] {
  // Template names have underscores where users type spaces.
  const wanted = name.trim().toLowerCase().replaceAll(' ', '_')
  return templates.filter(
    (template) => (status === null || template.status === status) && template.name.toLowerCase().includes(wanted),
  )
}

/** The number of templates by status. */
function countStatuses(templates: OwnTemplate[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { status } of templates) counts.set(status, (counts.get(status) ?? 0) + 1)
  return counts
}
