"""`loopxform report`: what is known of C files, as records (`collect`), as pictures, as a page."""
