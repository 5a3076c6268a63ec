import { openTestStorage } from '@clinical-launch/testing/test-storage';
import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { readCatalogue } from '../src/catalogue-file.ts';
import { openOrderingDatabase } from '../src/store/database.ts';
import { requestWords } from '../src/store/request-words.ts';
import { inventRequests } from './stored/invented-requests.ts';
import { timeZone } from './stored/seed.ts';

describe('the search words of a request', () => {
  // A release that changes these words must index stored requests again.
  it('are equal to the words that earlier releases stored', async () => {
    const storage = await openTestStorage();
    try {
      const database = await openOrderingDatabase(storage);
      const catalogue = readCatalogue();
      const [request] = inventRequests({
        practice: {
          identifier: { system: 'ods-organization-code', value: 'B82017' },
          name: 'Harbour Surgery',
        },
        count: 1,
        // Contains only two tests, so that changes of other tests in the catalogue do not change the words.
        catalogue: {
          ...catalogue,
          orderables: new Map([...catalogue.orderables].filter(([code]) => ['BTROP', 'UTES'].includes(code))),
        },
        newest: new Date('2026-03-02T09:30:00Z'),
        firstNumber: 1,
      });
      if (request === undefined) throw new Error('No request was invented');
      const { rows } = await sql<{
        words: string;
      }>`select ${requestWords(request, timeZone).words} as words`.execute(database);
      expect(rows[0]?.words.match(/(?<=')[^' ]+(?=')/g)).toEqual(
        '2c072258:0000000 2c072258:000001 2c072258:000002 2c072258:9316938252 2c072258:=19620217 2c072258:=d20260302 2c072258:=l4e48534f5247414e49534154494f4e53205243423030 2c072258:=l4e48534f5247414e49534154494f4e53205243423232 2c072258:=r70726f66657373696f6e616c2d636f6465204738313030303031 2c072258:=t4254524f50 2c072258:=t55544553 2c072258:btrop 2c072258:dr 2c072258:edith 2c072258:g8100001 2c072258:hall 2c072258:matthew 2c072258:mrs 2c072258:ncp 2c072258:ncp000002 2c072258:olivia 2c072258:oliviamatthew 2c072258:penhaligon 2c072258:svi 2c072258:svi000001 2c072258:testes 2c072258:troponin 2c072258:ultrasound 2c072258:ultrasoundtestes 2c072258:utes 2c072258:wh 2c072258:wh0000000 p:000001 p:000002 p:=d20260302 p:=l4e48534f5247414e49534154494f4e53205243423030 p:=l4e48534f5247414e49534154494f4e53205243423232 p:=t4254524f50 p:=t55544553 p:btrop p:ncp p:ncp000002 p:svi p:svi000001 p:testes p:troponin p:ultrasound p:ultrasoundtestes p:utes'.split(
          ' ',
        ),
      );
    } finally {
      await storage.close();
    }
  });
});
