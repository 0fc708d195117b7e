import { t } from '@lingui/core/macro'
import { Button, Group, Input, Popover, SegmentedControl, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconCalendar } from '@tabler/icons-react'
import { type SubmitEvent, useState } from 'react'
import { translate } from '../../language/i18n.ts'
import type { DayRange, Overview } from '../../../../contracts/dashboard/overview.ts'
import styles from './overview.module.css'
import { calendarPresets, checkRange, describeDates, type Preset, presets, type Selection } from './period.ts'
import { Form } from '../../ui/form.tsx'

interface PeriodControlsProps {
  selection: Selection
  /** The displayed overview; undefined while it loads. */
  overview: Overview | undefined
  onSelect: (selection: Selection) => void
}

export function PeriodControls({ selection, overview, onSelect }: PeriodControlsProps) {
  const [opened, { toggle, close }] = useDisclosure()
  const dates = describeDates(selection)
  const select = (selected: Selection) => {
    onSelect(selected)
    close()
  }
  return (
    <>
      <SegmentedControl
        className={styles['period'] ?? ''}
        aria-label={t`Period`}
        data={presets.map(({ value, label }) => ({ value, label: translate(label) }))}
        // No preset is selected if dates are; the button next to it shows them.
        value={dates === undefined ? selection.preset : ''}
        // Every value is a preset.
        onChange={(value) => onSelect(selectPreset(value as Preset))}
      />
      <Popover
        opened={opened}
        onChange={close}
        position="bottom-end"
        trapFocus
        returnFocus
        shadow="md"
        width="min(380px, calc(100vw - 2rem))"
      >
        <Popover.Target>
          <Button
            variant={dates === undefined ? 'default' : 'light'}
            leftSection={<IconCalendar size={16} />}
            aria-label={dates === undefined ? undefined : t`Dates: ${dates}`}
            onClick={toggle}
          >
            {dates ?? t`Dates`}
          </Button>
        </Popover.Target>
        <Popover.Dropdown aria-label={t`Dates`}>
          <Group gap="xs" grow preventGrowOverflow={false} mb="md">
            {calendarPresets.map(({ value, label }) => (
              <Button
                key={value}
                px="xs"
                variant={selection.preset === value ? 'light' : 'default'}
                aria-pressed={selection.preset === value}
                onClick={() => select(selectPreset(value))}
              >
                {translate(label)}
              </Button>
            ))}
          </Group>
          <DatesForm selection={selection} overview={overview} onApply={select} />
        </Popover.Dropdown>
      </Popover>
    </>
  )
}

function selectPreset(preset: Preset): Selection {
  return { preset, period: undefined, compareWith: undefined }
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
  const [edited, setEdited] = useState<DayRange>()
  // The form can be opened before the overview has loaded.
  const period = edited ?? selection.period ?? shown
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
    // A preset keeps moving with time, unless its dates were changed.
    const isPreset = selection.preset !== undefined && period.from === shown.from && period.until === shown.until
    onApply({
      preset: isPreset ? selection.preset : undefined,
      period: isPreset ? undefined : period,
      compareWith: isCompared ? compareWith : undefined,
    })
  }
  return (
    <Form onSubmit={submit} gap="sm">
      <RangeFields
        name={t`Period`}
        range={period}
        onChange={setEdited}
        problem={isChecked ? problems.period : undefined}
      />
      <RangeFields
        name={t`Compare with`}
        hint={t`Leave empty for the period before.`}
        range={compareWith}
        onChange={setCompareWith}
        problem={isChecked ? problems.compareWith : undefined}
      />
      <Group justify="flex-end">
        <Button type="submit">{t`Apply`}</Button>
      </Group>
    </Form>
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
          label={t`From`}
          value={range.from}
          error={problem !== undefined}
          onChange={({ currentTarget: { value } }) => onChange({ ...range, from: value })}
        />
        <TextInput
          type="date"
          label={t`Until`}
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
