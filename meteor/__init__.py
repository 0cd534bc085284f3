"""meteor"""
