import { Group, Text } from '@mantine/core'

export function Logo() {
  return (
    <Group gap={10} wrap="nowrap">
      <svg width="26" height="26" viewBox="0 0 24 24" aria-hidden="true">
        <rect width="24" height="24" rx="6" fill="var(--mantine-primary-color-filled)" />
        <path
          d="M5.5 8l3 8.5L12 9l3.5 7.5 3-8.5"
          fill="none"
          stroke="white"
          strokeWidth="2.2"
          strokeLinecap="round"
          strokeLinejoin="round"
        />
      </svg>
      <Text fw={700} fz="lg" component="span">
        Waybill
      </Text>
    </Group>
  )
}
