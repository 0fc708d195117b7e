import { Group, Text } from '@mantine/core'

interface LogoProps {
  /** Whether a phone shows only the drawing. */
  compact?: boolean
}

/** A waybill with a tear-off stub. index.html and the guides contain the same drawing. */
export function Logo({ compact = false }: LogoProps) {
  return (
    <Group gap={9} wrap="nowrap">
      <svg width="26" height="26" viewBox="0 0 24 24" aria-hidden="true">
        <path
          d="M6 1h12a5 5 0 0 1 5 5v8.6a1.6 1.6 0 0 0 0 3.2v.2a5 5 0 0 1-5 5H6a5 5 0 0 1-5-5v-.2a1.6 1.6 0 0 0 0-3.2V6a5 5 0 0 1 5-5z"
          fill="var(--mantine-primary-color-filled)"
        />
        <g fill="none" stroke="white" strokeLinecap="round" strokeLinejoin="round">
          <path d="M6 5.6l2.8 6.4L12 6.6l3.2 5.4L18 5.6" strokeWidth="2.1" />
          <path d="M5.2 16.2h13.6" strokeWidth="1.2" strokeDasharray=".1 2.6" />
        </g>
      </svg>
      <Text
        fw={650}
        fz={17}
        lh={1}
        component="span"
        style={{ letterSpacing: '-0.02em' }}
        {...(compact && { visibleFrom: 'xs' })}
      >
        Waybill
      </Text>
    </Group>
  )
}
