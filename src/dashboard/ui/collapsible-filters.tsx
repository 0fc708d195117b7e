import { t } from '@lingui/core/macro'
import { Box, Flex } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconFilter } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import { Button } from './button.tsx'

interface CollapsibleFiltersProps {
  /** How many filters are active. */
  active: number
  /** Whether they are in a `FilterRow`. */
  isBeside?: boolean
  children: ReactNode
}

/** A search field with few filters: beside each other, as far as they fit. */
export function FilterRow({ children }: { children: ReactNode }) {
  return (
    <Flex wrap="wrap" align="flex-end" gap="sm" mb="md">
      {children}
    </Flex>
  )
}

/** Filters of a list. On a phone, they are collapsed, so that the list is on the first screen. */
export function CollapsibleFilters({ active, isBeside = false, children }: CollapsibleFiltersProps) {
  const [opened, { toggle }] = useDisclosure()
  return (
    <>
      <Button
        hiddenFrom="sm"
        fullWidth
        mt={isBeside ? 0 : 'sm'}
        variant="default"
        icon={IconFilter}
        aria-expanded={opened}
        onClick={toggle}
      >
        {active === 0 ? t`Filters` : t`Filters (${active})`}
      </Button>
      <Box {...(!opened && { visibleFrom: 'sm' })} mt={isBeside ? 0 : 'sm'} flex={{ base: '1 0 100%', sm: '0 1 auto' }}>
        {children}
      </Box>
    </>
  )
}
