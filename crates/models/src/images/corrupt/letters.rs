//! Small letters for labels in images, drawn here: no font is needed.

/// Columns and rows of a letter, without the gaps between letters.
pub(super) const COLUMNS: usize = 5;
pub(super) const ROWS: usize = 9;

/// Letters side by side, each with a gap after it. Two rows rise above small letters, and two hang below.
const LETTERS: [(&str, [&str; ROWS]); 3] = [
    (
        "abcdefghijklm",
        [
            "      #               #         ##        #       #      #  #      ##         ",
            "      #               #        #          #                 #       #         ",
            " ###  ####   ###   ####  ###  ####   #### ####   ##     ##  #  #    #   ## #  ",
            "    # #   # #     #   # #   #  #    #   # #   #   #      #  # #     #   # # # ",
            " #### #   # #     #   # #####  #    #   # #   #   #      #  ##      #   # # # ",
            "#   # #   # #     #   # #      #    #   # #   #   #      #  # #     #   # # # ",
            " #### ####   ###   ####  ###   #     #### #   #  ###     #  #  #   ###  # # # ",
            "                                        #             #  #                    ",
            "                                     ###               ##                     ",
        ],
    ),
    (
        "nopqrstuvwxyz",
        [
            "                                     #                                        ",
            "                                     #                                        ",
            "####   ###  ####   #### # ##   #### ####  #   # #   # #   # #   # #   # ##### ",
            "#   # #   # #   # #   # ##  # #      #    #   # #   # #   #  # #  #   #    #  ",
            "#   # #   # #   # #   # #      ###   #    #   # #   # # # #   #   #   #   #   ",
            "#   # #   # #   # #   # #         #  #  # #   #  # #  # # #  # #  #   #  #    ",
            "#   #  ###  ####   #### #     ####    ##   ####   #    # #  #   #  #### ##### ",
            "            #         #                                               #       ",
            "            #         #                                            ###        ",
        ],
    ),
    (
        "-0123456789",
        [
            "       ###    #    ###   ###     #  #####   ##  #####  ###   ###  ",
            "      #   #  ##   #   # #   #   ##  #      #        # #   # #   # ",
            "      #  ##   #       #     #  # #  ####  #        #  #   # #   # ",
            "      # # #   #     ##    ##  #  #      # ####    #    ###   #### ",
            " ###  ##  #   #    #        # #####     # #   #  #    #   #     # ",
            "      #   #   #   #     #   #    #  #   # #   #  #    #   #    #  ",
            "       ###   ###  #####  ###     #   ###   ###   #     ###   ##   ",
            "                                                                  ",
            "                                                                  ",
        ],
    ),
];

/// The squares of a letter that are filled, as column and row; of an unknown one, none.
pub(super) fn filled(letter: char) -> impl Iterator<Item = (usize, usize)> {
    let found = LETTERS.iter().find_map(|(letters, rows)| {
        letters.chars().position(|other| other == letter).zip(Some(rows))
    });
    found.into_iter().flat_map(|(place, rows)| {
        rows.iter().enumerate().flat_map(move |(y, row)| {
            let columns = row.bytes().skip(place * (COLUMNS + 1)).take(COLUMNS).enumerate();
            columns.filter(|(_, square)| *square == b'#').map(move |(x, _)| (x, y))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_have_their_columns() {
        for (letters, rows) in LETTERS {
            for row in rows {
                assert_eq!(row.len(), letters.len() * (COLUMNS + 1), "{letters}");
            }
        }
    }
}
