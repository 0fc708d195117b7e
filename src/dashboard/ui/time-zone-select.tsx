import { t } from '@lingui/core/macro'
import { type ComboboxItem, type ComboboxParsedItem, Select, type SelectProps, Text } from '@mantine/core'
import { useMemo } from 'react'
import { findTimeZones, listTimeZones, type TimeZoneOption } from './time-zones.ts'

/** Limited, because a longer list would make typing slow. */
const maxShown = 30

interface TimeZoneSelectProps extends Pick<SelectProps, 'error' | 'disabled'> {
  value?: string
  onChange: (timeZone: string) => void
}

/** Accepts a city or a country, because few users know the name of their time zone. */
export function TimeZoneSelect({ value = '', onChange, ...rest }: TimeZoneSelectProps) {
  const zones = useMemo(() => listTimeZones(value), [value])
  return (
    <Select
      label={t`Time zone`}
      description={t`Search for a large city nearby, or for the country.`}
      data={zones}
      searchable
      allowDeselect={false}
      limit={maxShown}
      filter={({ options, search }) =>
        // Opening the list shows all zones, although the field contains the selected one.
        search === value ? options : findTimeZones(options.flatMap(toZone), search)
      }
      renderOption={({ option }) => <Zone option={option} />}
      nothingFoundMessage={t`No time zone found. Enter the name of a larger city nearby, such as Las Palmas.`}
      value={value}
      onChange={(zone) => {
        if (zone !== null) onChange(zone)
      }}
      {...rest}
    />
  )
}

function toZone(item: ComboboxParsedItem): TimeZoneOption[] {
  return isZone(item) ? [item] : []
}

function isZone(item: ComboboxParsedItem | ComboboxItem): item is TimeZoneOption {
  return 'places' in item
}

function Zone({ option }: { option: ComboboxItem }) {
  return (
    <div>
      <Text size="sm">{option.label}</Text>
      {isZone(option) && option.places !== '' && (
        <Text size="xs" c="dimmed">
          {option.places}
        </Text>
      )}
    </div>
  )
}
