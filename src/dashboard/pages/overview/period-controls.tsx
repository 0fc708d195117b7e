import { Button, Group, Input, Popover, SegmentedControl, Stack, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconCalendar } from '@tabler/icons-react'
import { type SubmitEvent, useState } from 'react'
import type { DayRange, Overview } from '../../../../contracts/dashboard/overview.ts'
import { checkRange, type Preset, presets, type Selection } from './period.ts'

interface PeriodControlsProps {
  selection: Selection
  /** What is shown; undefined while it loads. */
  overview: Overview | undefined
  onSelect: (selection: Selection) => void
}

export function PeriodControls({ selection, overview, onSelect }: PeriodControlsProps) {
  const [opened, { toggle, close }] = useDisclosure()
  const isCustom = selection.period !== undefined
  return (
    <>
      <SegmentedControl
        aria-label="Period"
        data={[...presets, ...(isCustom ? [{ value: 'custom', label: 'Dates' }] : [])]}
        value={selection.preset ?? 'custom'}
        // All other values are presets.
        onChange={(value) =>
          value !== 'custom' && onSelect({ preset: value as Preset, period: undefined, compareWith: undefined })
        }
      />
      <Popover opened={opened} onChange={close} position="bottom-end" trapFocus shadow="md" width={320}>
        <Popover.Target>
          <Button variant="default" leftSection={<IconCalendar size={16} />} onClick={toggle}>
            Dates
          </Button>
        </Popover.Target>
        <Popover.Dropdown aria-label="Dates">
          <DatesForm
            selection={selection}
            overview={overview}
            onApply={(selected) => {
              onSelect(selected)
              close()
            }}
          />
        </Popover.Dropdown>
      </Popover>
    </>
  )
}

interface DatesFormProps {
  selection: Selection
  overview: Overview | undefined
  onApply: (selection: Selection) => void
}

const none: DayRange = { from: '', until: '' }

/** The dates of the period, and optionally of the period to compare it with. */
function DatesForm({ selection, overview, onApply }: DatesFormProps) {
  const shown = { from: overview?.days[0]?.date ?? '', until: overview?.days.at(-1)?.date ?? '' }
  const [period, setPeriod] = useState(selection.period ?? shown)
  const [compareWith, setCompareWith] = useState(selection.compareWith ?? none)
  const [isChecked, setIsChecked] = useState(false)
  const isCompared = compareWith.from !== '' || compareWith.until !== ''
  const problems = {
    period: checkRange(period),
    compareWith: isCompared ? checkRange(compareWith) : undefined,
  }
  const submit = (event: SubmitEvent) => {
    event.preventDefault()
    setIsChecked(true)
    if (problems.period !== undefined || problems.compareWith !== undefined) return
    // The shown days of a preset go on moving, unless they were changed.
    const isPreset = selection.preset !== undefined && period.from === shown.from && period.until === shown.until
    onApply({
      preset: isPreset ? selection.preset : undefined,
      period: isPreset ? undefined : period,
      compareWith: isCompared ? compareWith : undefined,
    })
  }
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm">
        <RangeFields
          name="Period"
          range={period}
          onChange={setPeriod}
          problem={isChecked ? problems.period : undefined}
        />
        <RangeFields
          name="Compare with"
          hint="Leave empty for the period before."
          range={compareWith}
          onChange={setCompareWith}
          problem={isChecked ? problems.compareWith : undefined}
        />
        <Group justify="flex-end">
          <Button type="submit">Apply</Button>
        </Group>
      </Stack>
    </form>
  )
}

interface RangeFieldsProps {
  name: string
  hint?: string
  range: DayRange
  onChange: (range: DayRange) => void
  problem: string | undefined
}

function RangeFields({ name, hint, range, onChange, problem }: RangeFieldsProps) {
  return (
    <div role="group" aria-label={name}>
      <Text size="sm" fw={600}>
        {name}
      </Text>
      {hint !== undefined && (
        <Text size="xs" c="dimmed">
          {hint}
        </Text>
      )}
      <Group grow gap="xs" mt={4} align="flex-start" wrap="nowrap">
        <TextInput
          type="date"
          label="From"
          value={range.from}
          error={problem !== undefined}
          onChange={({ currentTarget: { value } }) => onChange({ ...range, from: value })}
        />
        <TextInput
          type="date"
          label="Until"
          value={range.until}
          error={problem !== undefined}
          onChange={({ currentTarget: { value } }) => onChange({ ...range, until: value })}
        />
      </Group>
      {problem !== undefined && (
        <Input.Error mt={4} role="alert">
          {problem}
        </Input.Error>
      )}
    </div>
  )
}
