import { t } from '@lingui/core/macro'
import { Box, Button } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconFilter } from '@tabler/icons-react'
import type { ReactNode } from 'react'

interface CollapsibleFiltersProps {
  /** How many filters are active. */
  active: number
  children: ReactNode
}

/** Filters of a list. On a phone, they are collapsed, so that the list is on the first screen. */
export function CollapsibleFilters({ active, children }: CollapsibleFiltersProps) {
  const [opened, { toggle }] = useDisclosure()
  return (
    <>
      <Button
        hiddenFrom="sm"
        fullWidth
        mt="sm"
        variant="default"
        leftSection={<IconFilter size={16} />}
        aria-expanded={opened}
        onClick={toggle}
      >
        {active === 0 ? t`Filters` : t`Filters (${active})`}
      </Button>
      <Box {...(!opened && { visibleFrom: 'sm' })} mt="sm">
        {children}
      </Box>
    </>
  )
}
