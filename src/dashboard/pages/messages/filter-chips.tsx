import { Button, Group, Pill } from '@mantine/core'
import { describeTime } from '../../ui/time.ts'
import { type MessageFilters, noFilters, ranges } from './message-filters.ts'
import { statusNames } from './message-status.tsx'

interface Chip {
  name: string
  value: string
  /** What removing the chip changes. */
  without: Partial<MessageFilters>
}

interface FilterChipsProps {
  filters: MessageFilters
  onChange: (filters: MessageFilters) => void
}

/** The active filters, each of which can be removed. */
export function FilterChips({ filters, onChange }: FilterChipsProps) {
  const chips = listChips(filters)
  if (chips.length === 0) return null
  return (
    <Group gap="xs" mt="sm" role="group" aria-label="Active filters">
      {chips.map(({ name, value, without }) => (
        <Pill
          key={name}
          withRemoveButton
          removeButtonProps={{ 'aria-label': `Remove filter ${name}`, 'aria-hidden': false, tabIndex: 0 }}
          onRemove={() => onChange({ ...filters, ...without })}
        >
          {name}: {value}
        </Pill>
      ))}
      <Button size="compact-xs" variant="subtle" onClick={() => onChange(noFilters)}>
        Clear filters
      </Button>
    </Group>
  )
}

function listChips({
  status,
  range,
  from,
  until,
  search,
  errorCode,
  template,
  to,
  externalId,
}: MessageFilters): Chip[] {
  const chips: (Chip | false)[] = [
    search !== '' && { name: 'Search', value: search, without: { search: '', parts: '' } },
    status !== '' && { name: 'Status', value: statusNames[status], without: { status: '' } },
    range !== 'any' && range !== 'custom' && { name: 'Time', value: ranges[range].label, without: { range: 'any' } },
    range === 'custom' && from !== '' && { name: 'From', value: describeTime(from), without: withoutTime({ until }) },
    range === 'custom' && until !== '' && { name: 'Until', value: describeTime(until), without: withoutTime({ from }) },
    template !== '' && { name: 'Template', value: template, without: { template: '' } },
    errorCode !== '' && { name: 'Error code', value: errorCode, without: { errorCode: '' } },
    to !== '' && { name: 'Recipient', value: `+${to}`, without: { to: '' } },
    externalId !== '' && { name: 'External ID', value: externalId, without: { externalId: '' } },
  ]
  return chips.filter((chip) => chip !== false)
}

/** Keeps the other end of a custom range. */
function withoutTime(rest: { from?: string; until?: string }): Partial<MessageFilters> {
  const { from = '', until = '' } = rest
  return { from, until, range: from === '' && until === '' ? 'any' : 'custom' }
}
